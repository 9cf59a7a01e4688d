/// How long jobs that have ended are kept, with their results.
package struct JobRetention: Hashable, Sendable {
    package var count = 1000
    package var age = Duration.seconds(30 * 86_400)

    package init() {}
}
