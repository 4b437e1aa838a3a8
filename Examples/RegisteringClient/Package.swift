// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let shared: [Target.Dependency] = [
    .product(name: "Coordination", package: "SharedCore"),
    .product(name: "CoreAPI", package: "SharedCore"),
    .product(name: "InMemoryBackend", package: "SharedCore"),
    .product(name: "Lifecycle", package: "SharedCore"),
    .product(name: "NetworkMonitor", package: "SharedCore"),
    .product(name: "Platform", package: "SharedCore"),
]

let package = Package(
    name: "RegisteringClient",
    // The backend over ZeroMQ is not needed, nor is libzmq.
    dependencies: [.package(name: "SharedCore", path: "../..", traits: [])],
    targets: [
        // The parts that both ends of a connection need.
        .target(name: "SIPMessages", swiftSettings: settings),
        // The client: the part that a reader of this example may want to write.
        .target(name: "Telephony", dependencies: shared + ["SIPMessages"], swiftSettings: settings),
        // A server for it to register with.
        .target(name: "TelephoneServer", dependencies: ["SIPMessages"], swiftSettings: settings),
        .executableTarget(
            name: "registering-client", dependencies: shared + ["Telephony", "TelephoneServer"],
            swiftSettings: settings),
        .testTarget(
            name: "TelephoneTests", dependencies: shared + ["Telephony", "TelephoneServer", "registering-client"],
            swiftSettings: settings),
    ]
)
