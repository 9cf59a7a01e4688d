@testable import Transport

/// A connection between two simulated hosts. Each side learns for itself that it has ended.
struct SimulatedLink {
    struct Side {
        var host: Int
        var node: NodeID
        var isUp = true
        var liveness: Liveness
    }

    /// A link, and one side of it.
    struct Place: Equatable {
        var link: Int32
        var side: Int8

        init(_ link: Int, _ side: Int) {
            self.link = Int32(link)
            self.side = Int8(side)
        }
    }

    /// The side that dialled.
    private var dialler: Side
    private var acceptor: Side
    var dial: UInt64
    /// Whether its place may be taken by another.
    var isFree = false

    init(_ dialler: Side, _ acceptor: Side, dial: UInt64) {
        self.dialler = dialler
        self.acceptor = acceptor
        self.dial = dial
    }

    /// 0 for the one that dialled.
    subscript(side: Int) -> Side {
        get { side == 0 ? dialler : acceptor }
        _modify { if side == 0 { yield &dialler } else { yield &acceptor } }
    }

    func candidate(_ side: Int) -> LinkChoice.Candidate {
        LinkChoice.Candidate(dialledHere: side == 0, dial: dial)
    }
}
