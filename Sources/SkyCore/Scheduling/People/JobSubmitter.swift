/// Who submitted a job, as the scheduler needs to know it.
package struct JobSubmitter: Hashable, Sendable {
    /// The person's name; `nil` for whoever has the cluster key. They share as one person.
    package var name: String?
    /// How many slots the person's jobs together may hold for this job to get one more; `nil` for no limit.
    package var slots: Int?

    package init(_ name: String? = nil, slots: Int? = nil) { (self.name, self.slots) = (name, slots) }
}
