// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "SharedCounter",
    // The backend over ZeroMQ is not needed, nor is libzmq.
    dependencies: [.package(name: "SharedCore", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "counter",
            dependencies: [
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
            ],
            swiftSettings: settings),
        .testTarget(name: "CounterTests", dependencies: ["counter"], swiftSettings: settings),
    ]
)
