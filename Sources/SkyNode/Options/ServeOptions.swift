import ArgumentParser

/// What a node keeps on its disk and in memory.
struct StorageOptions: ParsableArguments {
    @Option(ServeKeys.data, completion: .directory) var data: String?
    @Option(ServeKeys.dataLimit) var dataLimit: SizeArgument?
    @Option(ServeKeys.cacheSize) var cacheSize: SizeArgument?
    @Option(ServeKeys.pixelCache) var pixelCache: SizeArgument?
    @Option(ServeKeys.keepJobs) var keepJobs: Int
    @Option(ServeKeys.keepDays) var keepDays: Int
    @Option(ServeKeys.copies) var copies: Int
    @Option(ServeKeys.adoptAfter) var adoptAfter: DurationArgument
}

/// What a node answers by HTTP.
struct HTTPOptions: ParsableArguments {
    @Option(ServeKeys.http) var http: String?
    @Option(ServeKeys.httpToken, completion: .file()) var httpToken: String?
    @Option(ServeKeys.httpHost) var httpHosts: [String]
}

/// How a node logs.
struct LogFormatOptions: ParsableArguments {
    @Option(ServeKeys.logFormat) var logFormat: OutputFormat
}
