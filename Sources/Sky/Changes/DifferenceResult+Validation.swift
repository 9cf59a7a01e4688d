extension DifferenceResult {
    /// Whether it can be what the comparison of a sector found.
    package func isSound(of order: DifferenceOrder) -> Bool {
        let sector = order.sector
        let area = 0...sector.core.area
        return self.sector == sector.index && area.contains(corePixels) && area.contains(comparedPixels)
            && candidates.count <= DifferenceResult.mostCandidates && candidates.allSatisfy(\.hasPlace)
            && area.contains(omitted) && (0...DifferenceOrder.starLimit).contains(stars)
            && Refusal.allCases.allSatisfy { area.contains(refused[$0]) } && isSound(order.injected)
            && (planes.map { order.tellsPixels == true && $0.isSound(of: sector.core) } ?? true)
    }

    /// Whether what is said of injected stars is of those that were to be injected.
    private func isSound(_ stars: [InjectedChange]) -> Bool {
        let known = Dictionary(stars.map { ($0.number, $0) }) { one, _ in one }
        return injected.count <= stars.count && Set(injected.map(\.number)).count == injected.count
            && injected.allSatisfy { outcome in
                guard let star = known[outcome.number] else { return false }
                return (star.x, star.y, star.signalToNoise) == (outcome.x, outcome.y, outcome.signalToNoise)
                    && outcome.flux.isFinite && outcome.flux > 0
            }
    }
}

extension DifferenceCandidate {
    /// Whether its places can be reckoned with.
    fileprivate var hasPlace: Bool { [x, y, xOld, yOld].allSatisfy(Source.places.contains) }
}

extension EpochCutouts {
    /// Bytes of one picture: it is some hundred kilobytes.
    private static let byteLimit = 4 << 20

    package var isSound: Bool {
        (1...1000).contains(side) && [old, new, difference ?? []].allSatisfy { $0.count <= EpochCutouts.byteLimit }
    }
}
