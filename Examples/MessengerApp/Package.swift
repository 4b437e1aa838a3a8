// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "MessengerApp",
    // The backend over ZeroMQ is not needed, nor is libzmq.
    dependencies: [.package(name: "SharedCore", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "messenger",
            dependencies: [.product(name: "SharedCore", package: "SharedCore")]),
        .testTarget(
            name: "MessengerTests",
            dependencies: [
                "messenger",
                .product(name: "Coordination", package: "SharedCore"),
                .product(name: "SharedCoreTesting", package: "SharedCore"),
            ]),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
