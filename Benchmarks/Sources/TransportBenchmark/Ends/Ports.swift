/// Where the other end of each contestant listens. One line of JSON when the other end is another process.
struct Ports: Codable, Sendable {
    var raw: Int
    var grpc: Int
    var grpcWithoutDelay: Int
    var cluster: Int
    /// Absent where the transport has no TLS, see `BenchmarkSecurity`.
    var secureCluster: Int?
}
