extension DifferenceResult {
    /// Whether this can be the result of the comparison of a sector.
    package func isSound(of order: DifferenceOrder) -> Bool {
        let sector = order.sector
        let area = 0...sector.core.area
        return self.sector == sector.index && area.contains(corePixels) && area.contains(comparedPixels)
            && candidates.count <= DifferenceResult.mostCandidates && candidates.allSatisfy(\.hasPlace)
            && area.contains(omitted) && (0...DifferenceOrder.starLimit).contains(stars)
            && Refusal.allCases.allSatisfy { area.contains(refused[$0]) } && isSound(order.injected)
            && (planes.map { order.tellsPixels == true && $0.isSound(of: sector.core) } ?? true)
    }

    /// Whether the outcomes are those of the stars that the order has.
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
    /// Whether the candidate's places can be used in calculations.
    fileprivate var hasPlace: Bool { [x, y, xOld, yOld].allSatisfy(Source.places.contains) }
}
