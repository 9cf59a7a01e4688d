import ArgumentParser

@main struct TransportBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transport-benchmark",
        abstract: "Measures the transport against grpc-swift and against the bare event loop.",
        subcommands: [RunCommand.self, ServeCommand.self], defaultSubcommand: RunCommand.self)
}
