extension EpochComparison {
    /// Makes one row of a source that appeared and one that vanished, or marks the one that there is.
    ///
    /// - Parameters:
    ///   - appeared: row in `changes`; -1 - row in `faint`; `nil` for none. `vanished` likewise.
    package mutating func mark(_ appeared: Int?, _ vanished: Int?, rate: Double, angle: Double, track: Int?) {
        let old = vanished.flatMap { $0 >= 0 && $0 < changes.count ? changes[$0] : nil }
        var row: EpochChange
        if let appeared, appeared >= 0, appeared < changes.count {
            row = changes[appeared]
        } else if let appeared, appeared < 0, -1 - appeared < faint.count {
            row = EpochChange(faint[-1 - appeared], kind: .moved, isOnSource: false)
        } else if let old, let vanished {
            // Seen where it was; where it is now is too faint, outside, or on something bright.
            changes[vanished] = Self.moved(old, rate: rate, angle: angle, track: track)
            return
        } else {
            return
        }
        row = Self.moved(row, rate: rate, angle: angle, track: track)
        if let old, let vanished {
            (row.xOld, row.yOld, row.fluxOld, row.fluxOldError) = (old.xOld, old.yOld, old.fluxOld, old.fluxOldError)
            // The flux says that it is used up; `removeJoined` takes it out, when no row's number matters any more.
            changes[vanished].significance = .nan
        }
        if let appeared, appeared >= 0 {
            changes[appeared] = row
        } else {
            changes.append(row)
        }
    }

    private static func moved(_ row: EpochChange, rate: Double, angle: Double, track: Int?) -> EpochChange {
        var row = row
        row.kind = .moved
        (row.rate, row.positionAngle, row.track) = (rate, angle, track)
        return row
    }

    /// Takes out the rows that became part of others.
    mutating func removeJoined() {
        changes.removeAll { $0.significance.isNaN }
        changes.sort { ($0.y, $0.x, $0.significance) < ($1.y, $1.x, $1.significance) }
    }
}
