// swift-tools-version: 6.1

import PackageDescription

/// The settings of the package that is measured.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// This is a package of its own, so that the libraries that it compares with never become dependencies of those who use SkyNet.
let package = Package(
    name: "Benchmarks",
    products: [
        .executable(name: "transport-benchmark", targets: ["TransportBenchmark"]),
        .executable(name: "transport-soak", targets: ["TransportSoak"]),
    ],
    dependencies: [
        // The package is named, since the folder may be called anything.
        .package(name: "SkyNet", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        // It stands in for malloc and counts. It is in C because it must not allocate itself.
        .target(name: "CAllocationCount"),
        // What both programs have at either end of a link.
        .target(
            name: "BenchmarkNodes",
            dependencies: [
                .product(name: "Transport", package: "SkyNet"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "TransportBenchmark",
            dependencies: [
                "BenchmarkNodes", "CAllocationCount",
                .product(name: "Transport", package: "SkyNet"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "TransportSoak",
            dependencies: [
                "BenchmarkNodes", "CAllocationCount",
                .product(name: "Transport", package: "SkyNet"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
