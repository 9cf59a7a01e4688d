// swift-tools-version: 6.1

import PackageDescription

/// Only where it is asked for, with `MEMBER_IMPORTS=1 swift build`: on Linux, `stat` and its like belong to whichever C
/// module the compiler happened to build first (the C library's module map declares no headers), so that a build on many
/// cores now and then wants CoreFoundation or CNIOLinux imported where Glibc is.
let memberImports: [SwiftSetting] =
    Context.environment["MEMBER_IMPORTS"] == nil ? [] : [.enableUpcomingFeature("MemberImportVisibility")]  // SE-0444

/// The same strictness everywhere; each feature is on its way to being the language's default.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    ] + memberImports

/// For the program's own module, also in a release build. What computes, and what a task costs, is in the modules below it; this
/// one reads options and prints, and is not measurably slower. It is the last module of a build, for which a core waits, and
/// optimizing it would be most of its time. The checks that only a debug build makes stay away.
let unoptimized: [SwiftSetting] = [
    .unsafeFlags(["-Onone", "-assert-config", "Release"], .when(configuration: .release))
]

/// For the module that computes, also in a debug build of make's (`OPTIMIZED_SKY=1`): tests scan hundreds of images, which takes five
/// times as long otherwise. The checks that only a debug build makes stay. Not for others, because SwiftPM refuses a library with such
/// settings to whoever depends on a version of it.
let optimized: [SwiftSetting] =
    Context.environment["OPTIMIZED_SKY"] == nil
    ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Where the Debian package has its own libraries, on whose versions results depend (`deploy/package.sh`). A program that is not in
/// that package takes the system's, because there is no such folder beside it.
let ownLibraries: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-rpath=$ORIGIN/../lib/skynode"], .when(configuration: .release))
]

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

/// Mutual TLS: the handshake, and the cluster's own certificates and the keys behind them.
let security: [Target.Dependency] = [.product(name: "NIOSSL", package: "swift-nio-ssl"), "Cryptography"]

let package = Package(
    name: "SkyNet",
    products: [
        .library(name: "Transport", targets: ["Transport"]),
        .library(name: "Sky", targets: ["Sky"]),
        .library(name: "SkyCore", targets: ["SkyCore"]),
        .library(name: "SkyJobs", targets: ["SkyJobs"]),
        .executable(name: "skynode", targets: ["SkyNode"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.7.0"),
    ],
    targets: [
        // C libraries of Debian: cfitsio reads and writes FITS, SEP finds sources where our own search cannot, and in
        // the tests, wcslib knows an image's coordinates and ERFA the sky's reference systems, TurboJPEG encodes
        // pictures, libdeflate packs drawings and makes checksums, zlib packs pixels, OpenSSL's libcrypto makes
        // digests, keys and certificates; libpng reads pictures back in the tests. CLinux is what of the C library
        // and the kernel Swift's own module does not show. Module maps only: the few lines of C of ours are inline
        // functions for functions that take any number of arguments.
        .systemLibrary(name: "CCFITSIO", pkgConfig: "cfitsio", providers: [.apt(["libcfitsio-dev"])]),
        .systemLibrary(name: "CWCS", pkgConfig: "wcslib", providers: [.apt(["wcslib-dev"])]),
        .systemLibrary(name: "CERFA", pkgConfig: "erfa", providers: [.apt(["liberfa-dev"])]),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CZLIB", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSEP", providers: [.apt(["libsep-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),

        // What both houses stand on.
        .target(name: "Base", swiftSettings: strict),
        .target(name: "Cryptography", dependencies: ["CCrypto"], swiftSettings: strict),
        .target(
            name: "Transport",
            dependencies: nio + security + [
                "Base", "CLinux",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Sky",
            dependencies: [
                "Base", "Cryptography", "CCFITSIO", "CWCS", "CERFA", "CSEP", "CDeflate", "CTurboJPEG", "CZLIB",
                "CLinux",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ],
            swiftSettings: strict + optimized
        ),
        .target(
            name: "SkyCore",
            dependencies: [
                "Base", "Cryptography", "Transport", "CDeflate", "CLinux",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        // The kinds of jobs, and the pixels on their way.
        .target(
            name: "SkyJobs",
            dependencies: [
                "Base", "Transport", "Sky", "SkyCore", "CDeflate", "CZLIB",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SkyNode",
            dependencies: [
                "Base", "Transport", "Sky", "SkyCore", "SkyJobs", "CLinux",
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict + unoptimized,
            linkerSettings: ownLibraries
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "Base", "Transport", .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio + security,
            swiftSettings: strict
        ),
        // Frames, folders and the like that the tests of several modules make.
        .target(
            name: "Fixtures", dependencies: ["Base", "Sky", "SkyJobs", "AtLoad"], path: "Tests/Fixtures",
            swiftSettings: strict),
        .target(name: "AtLoad", path: "Tests/AtLoad"),
        .testTarget(
            name: "SkyTests",
            dependencies: [
                "Base", "Sky", "Transport", "Fixtures", "CCFITSIO", "CPNG", "CTurboJPEG", "CSEP",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SkyCoreTests",
            dependencies: [
                "Base", "Cryptography", "Sky", "SkyCore", "SkyJobs", "Transport", "Fixtures", "CLinux",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SkyNodeTests",
            dependencies: [
                "Base", "Sky", "SkyNode", "SkyCore", "SkyJobs", "Transport", "Fixtures",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ] + nio,
            swiftSettings: strict
        ),
        // The daemons these start are the built `skynode`, hence the dependency on it.
        .testTarget(
            name: "ClusterTests",
            dependencies: [
                "Base", "Sky", "SkyNode", "SkyCore", "SkyJobs",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// `make fuzz` only, with libFuzzer's counters, and the targets that throw input at it. SKYNET_FUZZ=bytes: what takes bytes from
// anybody. The rest of `Transport` stays away, and with it a TLS library that would have to be built with Address Sanitizer.
// SKYNET_FUZZ=values: all of it, for decoded values that no honest peer would send.
if let fuzz = Context.environment["SKYNET_FUZZ"] {
    let counted: [SwiftSetting] = strict + [.unsafeFlags(["-sanitize=fuzzer"])]
    let driver = Target.executableTarget(
        name: "Fuzz", dependencies: ["Transport", .product(name: "NIOCore", package: "swift-nio")], path: "Fuzzing",
        swiftSettings: strict, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
    package.products = []
    if fuzz == "values" {
        driver.sources = ["Driver", "Hostile"]
        driver.dependencies += [
            "Base", "Sky", "SkyCore", "SkyJobs", "SkyNode", .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "NIOFoundationCompat", package: "swift-nio"),
        ]
        package.targets =
            package.targets.compactMap { target in
                guard target.type != .test else { return nil }
                guard target.type != .system else { return target }
                // As a library: the program's own entry point would stand beside the driver's.
                let part =
                    target.name != "SkyNode"
                    ? target
                    : Target.target(
                        name: "SkyNode", dependencies: target.dependencies, exclude: ["SkyNodeMain.swift"])
                part.swiftSettings = counted
                return part
            } + [driver]
    } else {
        driver.sources = ["Driver", "Bytes"]
        package.targets = [
            .target(name: "Base", swiftSettings: counted),
            .target(
                name: "Transport",
                dependencies: [
                    "Base",
                    .product(name: "NIOCore", package: "swift-nio"),
                    .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                    .product(name: "DequeModule", package: "swift-collections"),
                ],
                sources: [
                    "Codec", "Handshake", "Wire", "Discovery/Beacons/Beacon.swift",
                    "Discovery/Beacons/BeaconFault.swift", "Discovery/Beacons/BeaconFilter.swift",
                    "Discovery/MulticastSettings.swift", "Identities", "Calls/CallDecoder.swift",
                    "Calls/CallEncoder.swift", "Calls/Errors/CallFailure.swift", "Calls/CallRequest.swift",
                    "Calls/CallTarget.swift", "Calls/Errors/DeclaredError.swift", "Calls/Errors/RemoteError.swift",
                    "Calls/TargetIndex.swift", "Calls/Errors/TransportError.swift", "Calls/ValidatedMessage.swift",
                    "Concurrency/BriefLock.swift", "Concurrency/SessionPool.swift",
                ],
                swiftSettings: counted
            ),
            driver,
        ]
    }
}
