package import NIOCore

/// The sending side's indices of targets: the names of a target go over a link once, and afterwards only its index.
package struct TargetIndex: Sendable {
    private var indices: [CallTarget: UInt32] = [:]
    /// The target that was looked up last, which mostly is the next: to compare two names takes less time than to hash them.
    private var last: (target: CallTarget, index: UInt32)?

    package init() {}

    /// Returns the index of a target and, the first time, the frame that declares it to the other side. The index is 0 once the
    /// table is full: the call then carries the names.
    package mutating func index(of target: CallTarget) -> (index: UInt32, declaration: Frame?) {
        if let last, last.target == target { return (last.index, nil) }
        if let index = indices[target] {
            last = (target, index)
            return (index, nil)
        }
        guard indices.count < FrameLimits.targets else { return (0, nil) }
        let index = UInt32(indices.count + 1)
        indices[target] = index
        var body = ByteBuffer(integer: index)
        target.write(into: &body)
        return (index, Frame(.declare, body: body))
    }
}

/// The receiving side's targets: those that the peer has declared, in order.
package struct DeclaredTargets {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String { "a declaration of a target that is not the next, or one too many" }
    }

    private var targets: [CallTarget] = []

    package init() {}

    /// - Throws: `Failure` where the indices do not count up from 1 to the limit, or the names cannot be read.
    package mutating func declare(_ body: ByteBuffer) throws(Failure) {
        var body = body
        guard let index = body.readInteger(as: UInt32.self), index == targets.count + 1,
            targets.count < FrameLimits.targets, let target = CallTarget(from: &body), body.readableBytes == 0
        else { throw Failure() }
        targets.append(target)
    }

    /// `nil` for an index that was not declared.
    package func target(_ index: UInt32) -> CallTarget? {
        index >= 1 && index <= targets.count ? targets[Int(index) - 1] : nil
    }
}
