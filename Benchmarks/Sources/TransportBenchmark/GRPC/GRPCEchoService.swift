import GRPCCore

/// What generated code would be for a service with one unary method.
struct GRPCEchoService: RegistrableRPCService {
    static let echo = MethodDescriptor(fullyQualifiedService: "benchmark.Echo", method: "Echo", type: .unary)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: GRPCEchoService.echo, deserializer: BytesDeserializer(), serializer: BytesSerializer()
        ) { request, _ in
            let single = try await ServerRequest(stream: request)
            return StreamingServerResponse(single: ServerResponse(message: single.message))
        }
    }
}
