// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "SharedNote",
    dependencies: [.package(name: "SharedCore", path: "../..")],
    targets: [
        .executableTarget(
            name: "note",
            dependencies: [
                .product(name: "SharedCore", package: "SharedCore"),
                .product(name: "SharedCoreConfiguration", package: "SharedCore"),
            ],
            swiftSettings: settings),
        .testTarget(name: "NoteTests", dependencies: ["note"], swiftSettings: settings),
    ]
)
