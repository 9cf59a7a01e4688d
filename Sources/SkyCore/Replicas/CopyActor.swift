package import Distributed
package import Transport

/// What other nodes ask of this one about copies of journals.
package distributed actor CopyActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("introduce") { (actor: isolated CopyActor, argument: CopyIntroduction) in
            await actor.introduce(argument)
        },
        Method("ask") { (actor: isolated CopyActor, argument: ReplicaCall) in await actor.ask(argument) },
        Method("locate") { (actor: isolated CopyActor, argument: JobID) in await actor.locate(argument) },
        Method("find") { (actor: isolated CopyActor, argument: String) in await actor.find(argument) },
        Method("census") { (actor: isolated CopyActor) in await actor.census() },
        Method("leave") { (actor: isolated CopyActor, argument: LeaveRequest) in await actor.leave(argument) },
        Method("unprotect", for: .operator) { (actor: isolated CopyActor, argument: UnprotectRequest) in
            try await actor.unprotect(argument)
        },
        Method("adopt", for: .operator) { (actor: isolated CopyActor, argument: String) in
            try await actor.adopt(argument)
        },
    ])

    package static let wellKnownName = "copies"

    private let copies: Copies

    init(_ copies: Copies, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.copies = copies
    }

    /// A node says who it is as a keeper of copies, and hears who this one is.
    package distributed func introduce(_ other: CopyIntroduction) async -> CopyIntroduction {
        await copies.introduced(other, from: CallOrigin.peer)
    }

    /// A replica asks one of this node.
    package distributed func ask(_ call: ReplicaCall) async -> ReplicaReply {
        await copies.receive(call, from: CallOrigin.peer)
    }

    /// Where a job is, as far as this node itself has it; `nil` if it has not.
    package distributed func locate(_ job: JobID) async -> JobPlace? { await copies.locateHere(job) }

    /// The job that was submitted with a token to a coordinator of this node; `nil` if there is none.
    package distributed func find(_ token: String) async -> JobID? { await copies.jobHere(withToken: token) }

    /// Which coordinators have copies on this node, and which work on it.
    package distributed func census() async -> CoordinatorCensus { await copies.censusHere }

    /// A node that is about to go gives back the votes of its copies.
    ///
    /// - Returns: whether it should wait, because nothing could be decided about a journal of this node without it.
    package distributed func leave(_ request: LeaveRequest) async -> Bool {
        await copies.leaves(request.replica, of: CallOrigin.peer)
    }

    /// Lets coordinators of this node go on without their copies. That is a person's word that no other node has taken over.
    ///
    /// - Returns: how many go on alone.
    /// - Throws: `RemoteError` where a job is not known here.
    package distributed func unprotect(_ request: UnprotectRequest) async throws -> Int {
        try await copies.continueWithoutStandbys(request)
    }

    /// Takes over what a lost node had, as far as there are copies of it here. That is a person's word that it is lost, and that no
    /// other node takes over.
    ///
    /// - Parameter node: the node's name.
    /// - Throws: `RemoteError` where there is no copy here, or where the node is in reach.
    package distributed func adopt(_ node: String) async throws -> [AdoptedCopy] { try await copies.adopt(from: node) }
}

/// Which jobs' coordinators are to go on without copies; none means all that work on the node and are held up by them.
package struct UnprotectRequest: Codable, Sendable {
    package var jobs: [JobID]

    package init(jobs: [JobID]) { self.jobs = jobs }
}

/// A copy that was taken over on a person's word.
package struct AdoptedCopy: Codable, Sendable {
    package var coordinator: String
    /// How many batches the lost node had stored and this copy lacks, as far as is known; `nil` where nothing is.
    package var missing: UInt64?
    /// For how long the lost node had not been heard; `nil` where it was not heard since this node's start.
    package var silent: Duration?
}

/// Who a node is as a keeper of copies.
package struct CopyIntroduction: Codable, Sendable {
    var replica: ReplicaID
    /// Where its disk is: nodes of one machine lose their disks together.
    var machine: UInt64
    /// Milliseconds since the node began.
    var uptime: UInt64
    /// Whether there is room for copies.
    var hasRoom: Bool
    /// That the replica is this node's; `nil` where an earlier version began its data folder.
    var proof: IdentityProof?
    /// How many more bytes may be stored; `nil` from earlier versions.
    var free: Int?
}

/// A node says that it is about to go.
package struct LeaveRequest: Codable, Sendable {
    var replica: ReplicaID
}

/// What one replica asks of another.
package struct ReplicaCall: Codable, Sendable {
    var coordinator: CoordinatorID
    /// Whom it is for: an address may have gone to another node meanwhile.
    var to: ReplicaID
    var request: ReplicaRequest<CopiedRows>
    /// That the one who asks has the coordinator's journal; `nil` where an earlier version made that, and where it has nothing of it
    /// yet.
    var proof: IdentityProof?

    /// Whether one without a proof may ask this: it changes nothing, and the answer says no more than that nothing is to be kept.
    var isUnprovenQuestion: Bool {
        if case .promise(let request) = request { proof == nil && request.isTrial } else { false }
    }
}

/// The coordinators of a node.
package struct CoordinatorCensus: Codable, Sendable {
    /// Those of whose journals the node has a copy, also its own.
    var kept: Set<CoordinatorID>
    /// Those that work there.
    var open: Set<CoordinatorID>
    /// What is known of those that are kept and do not work there; `nil` from nodes of earlier versions.
    var resting: [RestingCoordinator]?
    /// The node's replicas; `nil` from nodes of earlier versions.
    var replica: ReplicaID?
}

/// A coordinator of whose journal a node has a whole copy, and that does not work there.
package struct RestingCoordinator: Codable, Sendable {
    var coordinator: CoordinatorID
    /// The node that had it last, by its name or, where that is not known, by the number of its replica.
    var node: String
    /// How many jobs the copy has; `nil` where it cannot be read.
    var jobs: Int?
    /// Whether enough of those that keep copies see each other, so that one of them takes over by itself.
    var isDecidable: Bool
    /// How far the copy is, and whom its node takes for the members; `nil` from nodes of earlier versions.
    var position: LogPosition?
    var set: ReplicaSet?
    /// The replicas whose promises do not count, as the copy's node knows: their disks were put back, and have forgotten what they promised.
    var forgetful: Set<ReplicaID>?
}

/// Jobs that are at no node now: the node that had them is lost, or waits for those with copies.
package struct WaitingJobs: Codable, Sendable {
    /// The node that had them last, by its name.
    package var node: String
    /// How many they are; `nil` where that is not known, and for a person who may not see everybody's.
    package var jobs: Int?
    /// A node that has a copy of them: its name and its address.
    package var keeper: String
    package var address: NodeAddress?
    /// Whether they wait for a person's word. Otherwise another node is about to take them over.
    package var needsWord: Bool
}

/// Where a job is.
package struct JobPlace: Codable, Hashable, Sendable {
    package var node: NodeID
    /// The name of its coordinator's actor there.
    package var actor: String
}
