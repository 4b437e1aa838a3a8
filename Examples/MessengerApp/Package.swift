// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "MessengerApp",
    dependencies: [.package(name: "SharedCore", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "messenger",
            dependencies: [.product(name: "SharedCore", package: "SharedCore")])
    ]
)

// The README shows what stands above.
package.targets.append(
    .testTarget(
        name: "MessengerTests",
        dependencies: [
            "messenger",
            .product(name: "Coordination", package: "SharedCore"),
            .product(name: "SharedCoreTesting", package: "SharedCore"),
        ]))
for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
