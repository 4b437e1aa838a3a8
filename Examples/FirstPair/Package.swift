// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "FirstPair",
    // Without the backend over ZeroMQ, which would ask for libzmq.
    dependencies: [.package(name: "SharedCore", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "pair",
            dependencies: [
                .product(name: "CoreAPI", package: "SharedCore"),
                .product(name: "Coordination", package: "SharedCore"),
                .product(name: "FileNotifyBackend", package: "SharedCore"),
            ])
    ]
)

// The tutorial ends above.
package.targets.append(.testTarget(name: "PairTests", dependencies: ["pair"]))
