// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    dependencies: [
        // Without ZeroMQ: these benchmarks measure a single process.
        .package(name: "SharedCore", path: "..", traits: []),
        // Without what stands between a program and its allocator: that would be measured as well.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(
            name: "Figures",
            dependencies: [
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "InMemoryBackend", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Sources/Figures", swiftSettings: settings),
        .executableTarget(
            name: "InProcess", dependencies: ["Figures", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/InProcess", swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        // The same once, for a tool that counts instructions. Valgrind 3.19 gives up on what the compiler tells a debugger.
        .executableTarget(
            name: "Counted", dependencies: ["Figures"], path: "Sources/Counted", swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"])]),
    ]
)
