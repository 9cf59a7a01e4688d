extension Int {
    /// A peer's count made fit for arithmetic: nothing counted here comes near 2^40.
    var asCount: Int { Swift.min(Swift.max(0, self), 1 << 40) }
}
