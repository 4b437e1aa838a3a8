// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "WormholeChat",
    // The backend over ZeroMQ is not needed, nor is libzmq.
    dependencies: [
        .package(name: "SharedCore", path: "../..", traits: []),
        // For the tests only: a codec of an application's own.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        .executableTarget(
            name: "wormhole-chat",
            dependencies: [
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "Mailboxes", package: "SharedCore"),
                .product(name: "Wormholes", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
            ],
            swiftSettings: settings),
        .testTarget(name: "ChatTests", dependencies: ["wormhole-chat"], swiftSettings: settings),
        .testTarget(
            name: "ProtobufTests",
            dependencies: [
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "InMemoryBackend", package: "SharedCore"),
                .product(name: "Wormholes", package: "SharedCore"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: settings),
    ]
)
