import Glibc

/// Memory that is free within this process.
enum FreeMemory {
    /// Gives it to the machine: malloc_trim(3), which Swift's module map of glibc does not show. glibc does so by itself only for
    /// what lies at the end of its heaps.
    static func giveBack() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }
}
