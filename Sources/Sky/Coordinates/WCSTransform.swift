import CWCS
import Glibc

/// The transformation from pixels to the sky by the image's own header. wcslib applies every projection that it knows, with SIP
/// and TPV distortions, and this type applies tables of distortions. ERFA then turns the header's celestial system into ICRS.
///
/// It is built from the full frame's header and takes pixels of the full frame, never those of a sector, because distortions
/// are polynomials around the full frame's `CRPIX`.
package final class WCSTransform {
    private var all: UnsafeMutablePointer<wcsprm>?
    private var count: Int32
    private let chosen: UnsafeMutablePointer<wcsprm>
    private let axes: Int
    private let rotation: ICRSRotation?
    /// The tables of distortions that its header names.
    package let tables: [LookupTable]
    /// The colour to whose pixels the points belong; `nil` if they are the frame's own.
    package var bayer: BayerGrid?
    /// The place of the plane along the axes beyond the second.
    private let plane: [Double]

    /// The first celestial coordinate system of a header that can be turned into ICRS; the unnamed system comes before the
    /// alternatives.
    ///
    /// - Parameters:
    ///   - header: `cards` cards of 80 characters, without line ends, and a zero behind them. It is not changed.
    ///   - plane: The place of a cube's plane along the axes beyond the second; `nil` for an image of one plane.
    ///   - table: A function that returns a table of distortions that the header names.
    /// - Throws: The reason why there is none.
    package init(
        header: UnsafeMutablePointer<CChar>, cards: Int32, plane: [Int]? = nil,
        table: (LookupTable.Name) -> LookupTable? = { _ in nil }
    ) throws(MissingCoordinates) {
        self.plane = plane?.map(Double.init) ?? []
        let whole = UnsafeBufferPointer(start: header, count: Int(cards) * 80)
        let lookups = LookupCards(whole)
        tables = lookups.names.compactMap(table).filter(\.isSound)
        let lacksTables = !lookups.foreign.isEmpty || tables.map(\.name) != lookups.names
        // wcslib refuses a system that has distortions by tables.
        var text = lookups.cards.isEmpty ? [] : Array(whole) + [0]
        for card in lookups.cards { for place in 0..<80 { text[card * 80 + place] = 0x20 } }

        // Some headers make wcslib run for ever.
        ProcessorLimit.begin("wcslib does not come to an end with the coordinates in the header")
        defer { ProcessorLimit.end() }
        var rejected: Int32 = 0
        var count: Int32 = 0
        var all: UnsafeMutablePointer<wcsprm>?
        let status =
            text.isEmpty
            ? wcspih(header, cards, WCSHDR_all, 0, &rejected, &count, &all)
            : text.withUnsafeMutableBufferPointer {
                wcspih($0.baseAddress, cards, WCSHDR_all, 0, &rejected, &count, &all)
            }
        guard status == 0, let all, count > 0 else {
            wcsvfree(&count, &all)
            throw .absent
        }
        var missing = MissingCoordinates.absent
        for index in 0..<Int(count) {
            if plane != nil { Self.reduceToSky(all + index) }
            Self.repairPolynomials(of: all + index)
            // wcsfix repairs errors of old writers (units, dates, NCP, CD beside CDELT); its failure is not fatal.
            var repairs = [Int32](repeating: 0, count: Int(NWCSFIX))
            wcsfix(7, nil, all + index, &repairs)
            do throws(MissingCoordinates) {
                let frame = try Self.frame(of: all + index)
                if lacksTables {
                    throw .unusable("the tables of distortions that the header names (\(lookups.words)) cannot be read")
                }
                (self.all, self.count, chosen) = (all, count, all + index)
                axes = Int(chosen.pointee.naxis)
                rotation = ICRSRotation(from: frame)
                return
            } catch {
                if missing == .absent { missing = error }
            }
        }
        var list: UnsafeMutablePointer<wcsprm>? = all
        wcsvfree(&count, &list)
        throw missing
    }

    deinit { wcsvfree(&count, &all) }

    /// Reduces a cube's system to its two axes of the sky, if these are the image's axes and no other axis is linked to them.
    /// The values of a header for frequencies or Stokes parameters do not matter to the sky, and are often more than wcslib
    /// understands.
    private static func reduceToSky(_ system: UnsafeMutablePointer<wcsprm>) {
        guard system.pointee.naxis > 2 else { return }
        // One element asks for both axes. Their numbers come back in the order of the image's axes.
        var count: Int32 = 1
        var axes = [Int32](repeating: 0, count: Int(system.pointee.naxis))
        axes[0] = Int32(WCSSUB_LONGITUDE | WCSSUB_LATITUDE)
        var reduced = wcsprm()
        reduced.flag = -1
        defer { wcsfree(&reduced) }
        guard wcssub(1, system, &count, &axes, &reduced) == 0, count == 2, axes.prefix(2) == [1, 2] else { return }
        wcsfree(system)
        system.pointee.flag = -1
        wcssub(1, &reduced, &count, &axes, system)
    }

    /// Turns TAN into TPV in headers that SCAMP wrote before 2012, which have TPV's polynomials; wcslib takes these for another
    /// pole of the projection. If SIP's polynomials hold the same distortion, only those that `CTYPE` names count (Shupe et al.
    /// 2012, SPIE 8451, 84511M, section 7).
    private static func repairPolynomials(of system: UnsafeMutablePointer<wcsprm>) {
        let values = system.pointee
        guard values.naxis >= 2, values.naxis <= 16, let ctype = values.ctype, let parameters = values.pv else {
            return
        }
        let axes = (0..<Int(values.naxis)).filter { withUnsafeBytes(of: ctype[$0], text).dropFirst(4).hasPrefix("-T") }
        guard axes.count == 2 else { return }
        let projections = axes.map { String(withUnsafeBytes(of: ctype[$0], text).dropFirst(5)) }
        // TAN itself has four parameters.
        let hasPolynomials = (0..<Int(max(0, values.npv))).contains { index in
            parameters[index].m >= 5 && axes.contains { $0 + 1 == parameters[index].i }
        }
        switch (projections, hasPolynomials) {
        case (["TAN-SIP", "TAN-SIP"], true): system.pointee.npv = 0
        case (["TAN", "TAN"], true):
            for axis in axes {
                withUnsafeMutableBytes(of: &ctype[axis]) { $0[5..<8].copyBytes(from: Array("TPV".utf8)) }
            }
            lindist(1, &system.pointee.lin, nil, 0)
        case (["TPV", "TPV"], _): lindist(1, &system.pointee.lin, nil, 0)
        default: break
        }
    }

    /// The celestial frame of a system that wcslib has read.
    private static func frame(of system: UnsafeMutablePointer<wcsprm>) throws(MissingCoordinates) -> CelestialFrame {
        let isUsable = wcsset(system) == 0
        let values = system.pointee
        guard values.naxis >= 1, values.naxis <= 16, let ctype = values.ctype else { throw .absent }
        let named = (0..<Int(values.naxis)).map { axis in withUnsafeBytes(of: ctype[axis], text) }
        let types = MissingCoordinates.shown(named.prefix(2).joined(separator: ", "))
        guard isUsable else {
            if named.allSatisfy(\.isEmpty) { throw .absent }
            throw .unusable("wcslib cannot make use of the header's (\(types))")
        }
        // If one of the sky's axes is not an axis of the image, a single pixel has no place in the sky.
        guard values.naxis >= 2, (0..<2).contains(values.lng), (0..<2).contains(values.lat) else {
            throw named.prefix(2).allSatisfy(\.isEmpty) ? .absent : .linear(types)
        }
        // wcslib sets a huge number if the header has none.
        let isSet = { (value: Double) in value.isFinite && value != UNDEFINED }
        return try CelestialFrame(
            CelestialFrame.Keywords(
                longitude: withUnsafeBytes(of: values.lngtyp, text), types: types,
                frame: withUnsafeBytes(of: values.radesys, text),
                equinox: isSet(values.equinox) ? values.equinox : nil,
                observed: isSet(values.mjdobs) ? values.mjdobs : nil))
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = bytes.prefix { $0 != 0 }
        return String(decoding: text.prefix((text.lastIndex { $0 != 0x20 } ?? -1) + 1), as: UTF8.self)
    }

    /// Right ascension and declination (ICRS) in degrees of a pixel counted from 1, the first pixel's centre at (1, 1); `nil`
    /// where the projection has no sky.
    package func sky(x: Double, y: Double) -> (alpha: Double, delta: Double)? {
        sky([(x, y)])[0]
    }

    /// The same for many pixels at once.
    package func sky(_ points: [(x: Double, y: Double)]) -> [(alpha: Double, delta: Double)?] {
        guard !points.isEmpty else { return [] }
        // An axis beyond the second has only one plane in such an image, whose pixel is 1.
        var pixels = [Double](repeating: 1, count: points.count * axes)
        for (index, point) in points.enumerated() {
            let point = bayer?.frame(x: point.x, y: point.y) ?? point
            let place = tables.isEmpty ? point : corrected(point)
            pixels[index * axes] = place.x
            pixels[index * axes + 1] = place.y
            for (axis, value) in plane.enumerated() where axis + 2 < axes { pixels[index * axes + axis + 2] = value }
        }
        var intermediate = [Double](repeating: 0, count: pixels.count)
        var phi = [Double](repeating: 0, count: points.count)
        var theta = phi
        var world = intermediate
        var bad = [Int32](repeating: 0, count: points.count)
        let status = wcsp2s(
            chosen, Int32(points.count), Int32(axes), &pixels, &intermediate, &phi, &theta, &world, &bad)
        // Status 8 means "some points are invalid", and `bad` names these. After any other failure nothing is valid.
        guard status == 0 || status == 8 else { return Array(repeating: nil, count: points.count) }
        let longitude = Int(chosen.pointee.lng)
        let latitude = Int(chosen.pointee.lat)
        return points.indices.map { index in
            var alpha = world[index * axes + longitude]
            var delta = world[index * axes + latitude]
            guard bad[index] == 0, alpha.isFinite, delta.isFinite else { return nil }
            if let rotation { (alpha, delta) = rotation(alpha, delta) }
            alpha = fmod(alpha, 360)
            return (alpha: alpha < 0 ? alpha + 360 : alpha, delta: delta)
        }
    }

    /// The pixel for which wcslib must be called in place of this one, by the tables: first the detector's, then the image's.
    private func corrected(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        let even = moved(point, by: .detector, at: point)
        // SIP's polynomials are defined for the pixel before the image's tables, but wcslib applies them to the pixel with
        // which it is called. So the loop searches for a pixel that gives the same result.
        let goal = moved(distorted(even), by: .image, at: even)
        var place = moved(even, by: .image, at: even)
        for _ in 0..<8 {
            let there = distorted(place)
            let step = (x: goal.x - there.x, y: goal.y - there.y)
            place = (place.x + step.x, place.y + step.y)
            guard abs(step.x) + abs(step.y) > 1e-9 else { break }
        }
        return place
    }

    private func moved(
        _ point: (x: Double, y: Double), by stage: LookupTable.Name.Stage, at place: (x: Double, y: Double)
    ) -> (x: Double, y: Double) {
        var point = point
        for table in tables where table.name.stage == stage {
            let correction = table.correction(place)
            if table.name.axis == 0 { point.x += correction } else { point.y += correction }
        }
        return point
    }

    /// The place to which the header's polynomials move a pixel before its linear transformation.
    private func distorted(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        guard let polynomials = chosen.pointee.lin.dispre else { return point }
        var pixel = [Double](repeating: 1, count: axes)
        (pixel[0], pixel[1]) = point
        var result = pixel
        guard disp2x(polynomials, &pixel, &result) == 0 else { return (.nan, .nan) }
        return (result[0], result[1])
    }
}
