// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Softphone",
    // The SIP core needs libsofia-sip-ua. The backend over ZeroMQ is not needed, nor is libzmq.
    dependencies: [.package(name: "SharedCore", path: "../..", traits: ["SIP"])],
    targets: [
        .executableTarget(
            name: "softphone",
            dependencies: [
                .product(name: "Coordination", package: "SharedCore"),
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
                .product(name: "SIPCore", package: "SharedCore"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SoftphoneTests",
            dependencies: [
                "softphone",
                .product(name: "Coordination", package: "SharedCore"),
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
                .product(name: "InMemoryBackend", package: "SharedCore"),
                .product(name: "SIPCore", package: "SharedCore"),
            ],
            exclude: ["Scenarios"], swiftSettings: settings),
    ]
)
