/// What a node knows of one coordinator that uses, or asks for, its slots.
struct LeaseHolder {
    let coordinator: CoordinatorID
    /// The number of slots that it demands in total.
    var wanted = 0
    /// For how many people it works.
    var people = 1
    /// The number of slots that it has now. It is never below `running`: a slot in use is taken back only when its attempt ends.
    var granted = 0
    /// How many of its attempts occupy a slot.
    var running = 0
    /// The fencing token of the last change of `granted`.
    var fencingToken: UInt64
    /// When the lease ends unless it is renewed.
    var expiry: Duration
    /// When the coordinator must let others have the odd slot that it holds; nil while it holds none.
    var turnEnd: Duration?

    init(coordinator: CoordinatorID, wanted: Int, people: Int, fencingToken: UInt64, expiry: Duration) {
        self.coordinator = coordinator
        self.wanted = wanted
        self.people = people
        self.fencingToken = fencingToken
        self.expiry = expiry
    }
}
