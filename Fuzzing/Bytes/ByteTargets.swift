extension Fuzz {
    /// The targets that take bytes from anybody.
    static let targets: [any FuzzTarget.Type] = [
        FrameTarget.self, HandshakeTarget.self, DecodingTarget.self, EncodingTarget.self, CallPathTarget.self,
        BeaconTarget.self,
    ]
}
