/// Looks again and again until something holds, for half a minute at most.
///
/// For what happens a moment after what a test can wait for: a link is put away after its peer has seen it end.
///
/// - Returns: Whether it held in the end; to be expected.
func eventually(_ holds: () async throws -> Bool) async rethrows -> Bool {
    let limit = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < limit {
        if try await holds() { return true }
        await Task.yield()
    }
    return try await holds()
}
