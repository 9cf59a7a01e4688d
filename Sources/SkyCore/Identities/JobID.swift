public import Transport

/// One submission: a random number drawn by the coordinator, so that two coordinators never need to agree on it.
public typealias JobID = Identity<SubmittedJob>

/// What a `JobID` is the identity of.
public enum SubmittedJob {}
