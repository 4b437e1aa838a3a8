// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "SQLiteBackend",
    products: [.library(name: "SQLiteBackend", targets: ["SQLiteBackend"])],
    dependencies: [
        .package(name: "SharedCore", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(
            name: "SQLiteBackend",
            dependencies: [
                .product(name: "BackendRegistry", package: "SharedCore"),
                .product(name: "CoreAPI", package: "SharedCore"), .product(name: "LogBackend", package: "SharedCore"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "sqlite-peer",
            dependencies: ["SQLiteBackend", .product(name: "CoreAPITesting", package: "SharedCore")],
            swiftSettings: settings),
        // The program `sharedcore` with this backend.
        .executableTarget(
            name: "sqlite-core",
            dependencies: ["SQLiteBackend", .product(name: "SharedCoreHost", package: "SharedCore")],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteBackendTests",
            dependencies: [
                "SQLiteBackend", "sqlite-core", "sqlite-peer",
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "LogBackend", package: "SharedCore"),
                .product(name: "CoreAPITesting", package: "SharedCore"),
                .product(name: "CoreAPITestingAdapters", package: "SharedCore"),
            ],
            swiftSettings: settings),
    ]
)
