extension EpochComparison {
    /// Makes one row from a source that appeared and one that vanished, or marks the one row that there is.
    ///
    /// - Parameters:
    ///   - appeared: The row in `changes`, or -1 - row in `faint`; `nil` for none. The same holds for `vanished`.
    package mutating func mark(_ appeared: Int?, _ vanished: Int?, rate: Double, angle: Double, track: Int?) {
        let old = vanished.flatMap { $0 >= 0 && $0 < changes.count ? changes[$0] : nil }
        var row: EpochChange
        if let appeared, appeared >= 0, appeared < changes.count {
            row = changes[appeared]
        } else if let appeared, appeared < 0, -1 - appeared < faint.count {
            row = EpochChange(faint[-1 - appeared], kind: .moved, isOnSource: false)
        } else if let old, let vanished {
            // The source is seen where it was. In its present place it is too faint, outside the image, or on a bright source.
            changes[vanished] = Self.moved(old, rate: rate, angle: angle, track: track)
            return
        } else {
            return
        }
        row = Self.moved(row, rate: rate, angle: angle, track: track)
        if let old, let vanished {
            (row.xOld, row.yOld, row.fluxOld, row.fluxOldError) = (old.xOld, old.yOld, old.fluxOld, old.fluxOldError)
            // NaN marks the row as used; `removeJoined` removes it later, when the row numbers no longer matter.
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

    /// Removes the rows that became part of others.
    mutating func removeJoined() {
        changes.removeAll { $0.significance.isNaN }
        changes.sort { ($0.y, $0.x, $0.significance) < ($1.y, $1.x, $1.significance) }
    }
}
