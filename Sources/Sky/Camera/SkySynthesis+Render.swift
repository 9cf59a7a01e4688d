extension SkySynthesis {
    /// Makes the frame of one epoch, counted from 0. The recipe must have passed `validate()`.
    public func render(epoch: Int = 0) -> SyntheticSky {
        let conditions = EpochConditions(self, epoch: epoch)
        let view = Observation(self, conditions)
        var canvas = PixelCanvas(width: width, height: height)
        var truth = paintSky(view, on: &canvas)
        truth += paintTrails(view, on: &canvas)
        truth += CosmicRays(view.recipe, plane: view.plane, epoch: epoch).paint(on: &canvas)
        DetectorNoise(view.recipe, epoch: epoch).apply(to: &canvas)
        if nanBlock { BadBlock(self).apply(to: &canvas) }
        return SyntheticSky(
            width: width, height: height, pixels: canvas.pixels, format: format, truth: truth,
            header: FrameHeader(self, view).cards)
    }

    /// The file of an epoch if the whole recipe is written to `path`: `field_e1.fits` for `field.fits`, and `path` itself if
    /// there is only one epoch.
    public func path(of epoch: Int, for path: String) -> String {
        epochs > 1 ? FrameName(path).epoch(epoch) : path
    }

    /// Paints stars, galaxies and everything else in the sky. The truth has the sources whose middles are in the frame.
    private func paintSky(_ view: Observation, on canvas: inout PixelCanvas) -> [TruthSource] {
        let sources: [TruthSource]
        if epochs > 1 {
            sources = SkyField(self).sources(in: view)
        } else {
            let population = SkyPopulation(self, view)
            sources = population.stars() + population.galaxies()
        }
        // Wings are cut where they are no longer visible: at 2 % of the sky's noise for a star, and at less for each of the
        // Gaussians that add up to a galaxy.
        let noise = view.noise
        let seeing = view.point.mixture
        for source in sources {
            let (x, y) = (source.x - 1, source.y - 1)
            guard source.kind == .galaxy else {
                view.point.paint(x: x, y: y, flux: source.flux, floor: 0.02 * noise, on: &canvas)
                continue
            }
            let profile = source.sersicIndex == 4 ? GalaxyProfile.deVaucouleurs : .exponential
            profile.paint(source, x: x, y: y, seeing: seeing, floor: 0.001 * noise, on: &canvas)
        }
        return epochs > 1 ? sources.filter(view.contains) : sources
    }

    private func paintTrails(_ view: Observation, on canvas: inout PixelCanvas) -> [TruthSource] {
        SatelliteTrail.draw(view.recipe, epoch: view.epoch).map { trail in
            let flux = trail.paint(floor: 0.02 * view.noise, on: &canvas)
            return trail.truth(flux: flux, in: view.recipe, plane: view.plane)
        }
    }
}
