/// Who made the call that runs now.
package enum CallOrigin {
    /// The node at the other end of the link, as its handshake named it; `nil` for a call made on this node. What a
    /// caller says of itself in a request proves nothing.
    @TaskLocal package static var peer: NodeID?
}
