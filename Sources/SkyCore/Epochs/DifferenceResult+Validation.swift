extension DifferenceResult {
    /// Whether it can be what the comparison of a sector found.
    func isSound(of sector: Sector) -> Bool {
        let area = 0...sector.core.area
        return self.sector == sector.index && area.contains(corePixels) && area.contains(comparedPixels)
            && candidates.count <= DifferenceResult.mostCandidates && candidates.allSatisfy(\.hasPlace)
            && area.contains(omitted) && (0...DifferenceOrder.starLimit).contains(stars)
            && Refusal.allCases.allSatisfy { area.contains(refused[$0]) }
    }
}

extension DifferenceCandidate {
    /// Whether its places can be reckoned with.
    fileprivate var hasPlace: Bool { [x, y, xOld, yOld].allSatisfy(Source.places.contains) }
}

extension EpochCutouts {
    /// Bytes of one picture: it is some hundred kilobytes.
    private static let byteLimit = 4 << 20

    var isSound: Bool {
        (1...1000).contains(side) && old.count <= EpochCutouts.byteLimit && new.count <= EpochCutouts.byteLimit
    }
}
