// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "PostgresBackend",
    products: [.library(name: "PostgresBackend", targets: ["PostgresBackend"])],
    dependencies: [.package(name: "SharedCore", path: "../..")],
    targets: [
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "PostgresBackend",
            dependencies: [
                "CPostgres",
                .product(name: "BackendRegistry", package: "SharedCore"),
                .product(name: "CoreAPI", package: "SharedCore"), .product(name: "LogBackend", package: "SharedCore"),
                .product(name: "Platform", package: "SharedCore"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "postgres-peer",
            dependencies: [
                "PostgresBackend", .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "CoreAPITesting", package: "SharedCore"),
                .product(name: "LogBackend", package: "SharedCore"),
            ],
            swiftSettings: settings),
        // The program `sharedcore` with this backend.
        .executableTarget(
            name: "postgres-core",
            dependencies: ["PostgresBackend", .product(name: "SharedCoreHost", package: "SharedCore")],
            swiftSettings: settings),
        .testTarget(
            name: "PostgresBackendTests",
            dependencies: [
                "PostgresBackend", "postgres-core", "postgres-peer",
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "LogBackend", package: "SharedCore"),
                .product(name: "Platform", package: "SharedCore"),
                .product(name: "CoreAPITesting", package: "SharedCore"),
                .product(name: "CoreAPITestingAdapters", package: "SharedCore"),
            ],
            swiftSettings: settings),
    ]
)
