package import Transport

/// Who keeps a replica of a journal: a data folder, by the random number in it. A folder that was emptied gets another
/// number, so that it never votes for what it has forgotten.
package typealias ReplicaID = Identity<JournalReplica>

/// What a `ReplicaID` is the identity of.
package enum JournalReplica {}
