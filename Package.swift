// swift-tools-version: 6.2

import PackageDescription

/// What every Swift target is built with. Fail points, at which a test stops or kills a process in the middle of a
/// write, exist in debug builds only.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .define("FAIL_POINTS", .when(configuration: .debug)),
]

/// A program that is started for a moment: nothing of the language's libraries is looked up.
let startsFast: [LinkerSetting] = [.unsafeFlags(["-static-stdlib"])]

/// What is installed (`Scripts/install`) is linked by lld, which lays out functions in an order, and packs relocations.
let installed: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"], .when(configuration: .release))]

/// What Foundation itself links where a program has all of it in itself, as the backend on etcd needs it: the compiler
/// does not say so.
let foundation: [LinkerSetting] = ["_FoundationCollections", "_FoundationCShims"].map {
    .linkedLibrary($0, .when(traits: ["Etcd"]))
}

/// What measures is optimized in every build.
let optimized: [CSetting] = [.unsafeFlags(["-O2"])]

/// What computes through millions of states is optimized in every build.
let optimizedSwift: [SwiftSetting] = [.unsafeFlags(["-O"])]

func room(_ name: String, at path: String? = nil, knows: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: knows, path: path.map { "Sources/" + $0 }, swiftSettings: settings)
}

func tests(_ name: String, of rooms: [Target.Dependency], beside data: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: rooms + ["TestSupport", "CoreAPITesting"], path: "Tests/" + name, exclude: data,
        swiftSettings: settings)
}

/// The backend over ZeroMQ, where the package is built with it: it needs libzmq.
let zmqBackend = Target.Dependency.target(name: "ZMQBackend", condition: .when(traits: ["ZMQ"]))

/// The backend on etcd, where the package is built with it: nothing of it is fetched otherwise.
let etcdBackend = Target.Dependency.target(name: "EtcdBackend", condition: .when(traits: ["Etcd"]))

/// What is fetched and linked with the trait `Etcd` alone.
func etcdOnly(_ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Etcd"]))
}

/// What the programs of this package link and its libraries do not: an application that takes the libraries names its traits,
/// and fetches none of it.
func programsOnly(_ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Programs"]))
}

let package = Package(
    name: "SharedCore",
    products: [
        // One import of what an application uses that names its backend in code.
        .library(name: "SharedCore", targets: ["SharedCore"]),
        // The group that the file, the environment and given values describe. It links libyaml.
        .library(name: "SharedCoreConfiguration", targets: ["SharedCoreConfiguration"]),
        .library(name: "CoreAPI", targets: ["CoreAPI"]),
        // For its SystemClock, the clock that whoever asks for a TimeSource is given, and MainThread; the rest is the
        // package's own.
        .library(name: "Platform", targets: ["Platform"]),
        .library(name: "LogBackend", targets: ["LogBackend"]),
        .library(name: "InMemoryBackend", targets: ["InMemoryBackend"]),
        .library(name: "FileNotifyBackend", targets: ["FileNotifyBackend"]),
        .library(name: "ZMQBackend", targets: ["ZMQBackend"]),
        .library(name: "EtcdBackend", targets: ["EtcdBackend"]),
        .library(name: "PluginBackend", targets: ["PluginBackend"]),
        .library(name: "BackendRegistry", targets: ["BackendRegistry"]),
        .library(name: "Mailboxes", targets: ["Mailboxes"]),
        .library(name: "Wormholes", targets: ["Wormholes"]),
        .library(name: "Coordination", targets: ["Coordination"]),
        .library(name: "Lifecycle", targets: ["Lifecycle"]),
        .library(name: "NetworkMonitor", targets: ["NetworkMonitor"]),
        .library(name: "SharedCoreTesting", targets: ["SharedCoreTesting"]),
        .library(name: "CoreAPITesting", targets: ["CoreAPITesting"]),
        .library(name: "CoreAPITestingAdapters", targets: ["CoreAPITestingAdapters"]),
        .library(name: "KeptSockets", targets: ["KeptSockets"]),
        .library(name: "MaildirCore", targets: ["MaildirCore"]),
        .library(name: "CommandCore", targets: ["CommandCore"]),
        // The library for C and all languages that can call C; Foundation is not in it.
        .library(name: "sharedcore-c", type: .dynamic, targets: ["CLibrary"]),
        .library(name: "SIPCore", targets: ["SIPCore"]),
        // The program `sharedcore` for an application that adds its backends to it; it needs the trait `Programs`.
        .library(name: "SharedCoreHost", targets: ["SharedCoreHost"]),
        .executable(name: "sharedcore", targets: ["sharedcore"]),
        .executable(name: "sharedcore-executor", targets: ["sharedcore-executor"]),
        .executable(name: "sharedcore-keeper", targets: ["sharedcore-keeper"]),
        .executable(name: "sharedcore-holder", targets: ["sharedcore-holder"]),
        .executable(name: "sharedcore-web", targets: ["sharedcore-web"]),
    ],
    traits: [
        .default(enabledTraits: ["ZMQ", "Programs"]),
        .trait(name: "ZMQ", description: "The backend over ZeroMQ, for which libzmq must be installed."),
        .trait(name: "Programs", description: "The programs and tests of this package, with what they link."),
        .trait(name: "Etcd", description: "The backend on etcd, which is reached with gRPC."),
        .trait(name: "SIP", description: "The core of a SIP telephone, for which libsofia-sip-ua must be installed."),
    ],
    dependencies: [
        // For the trait `Programs` alone; without it they are not fetched.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        // For the trait `Etcd` alone; without it they are not fetched.
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // The contract.
        room("CoreAPI"),

        // What several rooms need of the language and the system.
        .target(name: "CLinux", cSettings: [.define("FAIL_POINTS", .when(configuration: .debug))]),
        room("Platform", knows: ["CoreAPI", "CLinux"]),

        // One order, and those who follow it.
        room("StoreEngine", knows: ["CoreAPI"]),
        room("Replica", knows: ["CoreAPI", "StoreEngine"]),
        room("InMemoryBackend", at: "Backends/InMemory", knows: ["CoreAPI", "StoreEngine", "Replica", "Platform"]),
        room("LogBackend", at: "Backends/Log", knows: ["CoreAPI", "StoreEngine", "Replica", "Platform"]),
        room(
            "FileNotifyBackend", at: "Backends/FileNotify",
            knows: ["CoreAPI", "StoreEngine", "Replica", "Platform"]),
        .target(name: "CZMQ", cSettings: [.define("ZMQ", .when(traits: ["ZMQ"]))]),
        room(
            "ZMQBackend", at: "Backends/ZMQ",
            knows: [
                "CoreAPI", "StoreEngine", "Replica", "Platform", "CZMQ", "FileNotifyBackend",
                "InMemoryBackend",
            ]),
        .target(
            name: "EtcdBackend",
            dependencies: [
                "CoreAPI", "StoreEngine", "Replica", "Platform",
                etcdOnly("GRPCCore", of: "grpc-swift-2"),
                etcdOnly("GRPCNIOTransportHTTP2Posix", of: "grpc-swift-nio-transport"),
                etcdOnly("GRPCProtobuf", of: "grpc-swift-protobuf"),
                etcdOnly("SwiftProtobuf", of: "swift-protobuf"),
                etcdOnly("NIOCore", of: "swift-nio"),
                etcdOnly("NIOSSL", of: "swift-nio-ssl"),
            ],
            path: "Sources/Backends/Etcd", exclude: ["Protocol"], swiftSettings: settings),
        .target(name: "CBackendPlugin"),
        room(
            "PluginBackend", at: "Backends/Plugin", knows: ["CoreAPI", "LogBackend", "Platform", "CBackendPlugin"]),
        room(
            "BackendRegistry",
            knows: [
                "CoreAPI", "InMemoryBackend", "FileNotifyBackend", "Platform", "PluginBackend", zmqBackend, etcdBackend,
            ]),

        // What processes do together.
        room("Mailboxes", knows: ["CoreAPI"]),
        room("WormholeFormat", knows: ["CoreAPI", "Mailboxes"]),
        room("Wormholes", knows: ["CoreAPI", "Mailboxes", "WormholeFormat"]),
        room("Coordination", knows: ["CoreAPI", "Mailboxes", "Platform"]),
        room("Lifecycle", knows: ["CoreAPI"]),
        room("KeptSockets", knows: ["CoreAPI", "Lifecycle", "Platform"]),
        room(
            "MaildirCore", at: "Cores/Maildir", knows: ["CoreAPI", "Coordination", "Mailboxes", "Platform"]),
        room(
            "CommandCore", at: "Cores/Command",
            knows: ["CoreAPI", "Coordination", "Mailboxes", "Platform", "ProgramOutput"]),

        // A telephone. Without the trait the files of both targets are empty, and nothing asks for the library.
        .systemLibrary(
            name: "CSofia", path: "Sources/CSofia", pkgConfig: "sofia-sip-ua",
            providers: [.apt(["libsofia-sip-ua-dev"])]),
        .target(
            name: "CSIPStack", dependencies: [.target(name: "CSofia", condition: .when(traits: ["SIP"]))],
            cSettings: [.define("SIP", .when(traits: ["SIP"]))],
            linkerSettings: [.linkedLibrary("sofia-sip-ua", .when(traits: ["SIP"]))]),
        room("SIPCore", knows: ["CoreAPI", "Coordination", "CSIPStack", "Platform"]),

        // For applications.
        room(
            "SharedCore",
            knows: [
                "CoreAPI", "BackendRegistry", "InMemoryBackend", "FileNotifyBackend", zmqBackend, etcdBackend,
                "Mailboxes", "Wormholes", "Coordination", "Platform",
            ]),
        .systemLibrary(name: "CYAML", path: "Sources/CYAML", providers: [.apt(["libyaml-dev"])]),
        room(
            "SharedCoreConfiguration",
            knows: [
                "CoreAPI", "BackendRegistry", "Coordination", "CYAML", "Lifecycle", "Platform", "PluginBackend",
                "ProgramOutput", zmqBackend,
            ]),

        // For programs in other languages.
        .target(name: "CSharedCore"),
        room(
            "CLibrary",
            knows: [
                "CoreAPI", "CSharedCore", "BackendRegistry", "Coordination", "Mailboxes", "Platform", "ProgramOutput",
                "SharedCoreConfiguration", "WormholeFormat",
            ]),

        // What the kernel tells of the machine's networks.
        room("NetworkMonitor", knows: ["CoreAPI", "Platform"]),

        // For tests: of applications, and of backends, with the contract as cases.
        room("TestInstruments", knows: ["CoreAPI"]),
        room(
            "SharedCoreTesting",
            knows: ["CoreAPI", "Coordination", "InMemoryBackend", "Platform", "TestInstruments"]),
        room(
            "CoreAPITesting",
            knows: ["CoreAPI", "Coordination", "Platform", "Mailboxes", "Wormholes", "TestInstruments"]),

        room(
            "BundledHarnesses",
            knows: [
                "CoreAPI", "CoreAPITesting", "InMemoryBackend", "FileNotifyBackend", zmqBackend, etcdBackend,
                "Platform", "PluginBackend",
            ]),

        room("CoreAPITestingAdapters", knows: ["CoreAPITesting"]),

        // Programs.
        room("ProgramOutput", knows: ["CoreAPI", "Platform"]),
        room(
            "ExecutorRun",
            knows: ["CommandCore", "CoreAPI", "Coordination", "MaildirCore", "Platform", "ProgramOutput"]),
        .executableTarget(
            name: "sharedcore-executor",
            dependencies: ["CoreAPI", "FileNotifyBackend", "Coordination", "ExecutorRun", "ProgramOutput", "Platform"],
            path: "Sources/Executor", swiftSettings: settings,
            linkerSettings: startsFast + installed),
        .executableTarget(
            name: "sharedcore-keeper",
            dependencies: ["CoreAPI", "KeptSockets", "Lifecycle", "Platform", "ProgramOutput"],
            path: "Sources/Keeper", swiftSettings: settings,
            linkerSettings: startsFast + installed),
        .executableTarget(
            name: "sharedcore-holder",
            dependencies: [
                "CoreAPI", "FileNotifyBackend", "Coordination", "KeptSockets", "Lifecycle", "Platform", "ProgramOutput",
            ],
            path: "Sources/Holder", swiftSettings: settings,
            linkerSettings: startsFast + installed),
        .target(
            name: "SharedCoreHost",
            dependencies: [
                "CoreAPI", "BackendRegistry", "InMemoryBackend", "FileNotifyBackend", "Mailboxes", "Wormholes",
                "CommandCore", "Coordination", "KeptSockets", "Lifecycle",
                "MaildirCore", "Platform", "ProgramOutput", "ExecutorRun", "CoreAPITesting", "BundledHarnesses",
                "PluginBackend", "SharedCoreConfiguration", zmqBackend, etcdBackend,
                programsOnly("ArgumentParser", of: "swift-argument-parser"),
                programsOnly("CoreMetrics", of: "swift-metrics"),
                programsOnly("Logging", of: "swift-log"),
                programsOnly("ServiceLifecycle", of: "swift-service-lifecycle"),
                programsOnly("UnixSignals", of: "swift-service-lifecycle"),
            ],
            path: "Sources/Host", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore", dependencies: ["SharedCoreHost"], path: "Sources/Program", swiftSettings: settings,
            linkerSettings: installed),
        // What `sharedcore web` becomes: a page about a group for a browser.
        .executableTarget(
            name: "sharedcore-web",
            dependencies: [
                "CoreAPI", "Mailboxes", "Platform", "ProgramOutput", "SharedCoreHost",
                programsOnly("ArgumentParser", of: "swift-argument-parser"),
            ],
            path: "Sources/Web", resources: [.embedInCode("page.html")], swiftSettings: settings,
            linkerSettings: installed),

        // What `sharedcore bench` becomes, and what that compares with: the limits of the machine, services and two designs that
        // users know. No product, and nothing else knows them; they are here and not in the package Benchmarks because they use
        // what is the package's own.
        .target(name: "CMeasuring", path: "Benchmarks/Sources/CMeasuring", cSettings: optimized),
        .executableTarget(
            name: "sharedcore-limits", dependencies: ["CMeasuring"], path: "Benchmarks/Sources/CLimits",
            cSettings: optimized,
            // Without the language's start and the dynamic linker: the least that a process can cost.
            linkerSettings: [.unsafeFlags(["-static-executable", "-nostartfiles"])]),
        .executableTarget(
            name: "sharedcore-limits-zmq", dependencies: ["CMeasuring"],
            path: "Benchmarks/Sources/CLimitsZMQ",
            cSettings: optimized + [.define("ZMQ", .when(traits: ["ZMQ"]))],
            linkerSettings: [.linkedLibrary("zmq", .when(traits: ["ZMQ"]))]),
        .executableTarget(
            name: "sharedcore-bench-services", dependencies: ["CMeasuring"], path: "Benchmarks/Sources/CPeers",
            cSettings: optimized),
        .target(
            name: "BenchmarkRun", dependencies: ["CoreAPI", "Coordination", "Platform"],
            path: "Benchmarks/Sources/BenchmarkRun", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-bench-participant",
            dependencies: [
                "CoreAPI", "BackendRegistry", "BenchmarkRun", "Coordination", "FileNotifyBackend", "Platform",
                "PluginBackend", "ProgramOutput", zmqBackend,
            ],
            path: "Benchmarks/Sources/BenchParticipant", swiftSettings: settings,
            linkerSettings: startsFast + foundation),
        .executableTarget(
            name: "sharedcore-bench",
            dependencies: [
                "CoreAPI", "BackendRegistry", "BenchmarkRun", "Coordination", "InMemoryBackend", "Platform",
                "ProgramOutput", etcdBackend,
                programsOnly("ArgumentParser", of: "swift-argument-parser"),
            ],
            path: "Benchmarks/Sources/Bench", swiftSettings: settings),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: [
                "CoreAPI", "CoreAPITesting", "InMemoryBackend", "FileNotifyBackend", "Platform", "CLinux",
            ],
            path: "Tests/Support", swiftSettings: settings),
        .target(
            name: "Mutants",
            dependencies: ["CoreAPI", "CoreAPITesting", "InMemoryBackend", "Platform", "Replica", "StoreEngine"],
            path: "Tests/Mutants", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-contract-table",
            dependencies: ["CoreAPITesting", "FileCases", "LifecycleSimulation", "Mutants"],
            path: "Tests/ContractTable", swiftSettings: settings),
        .target(
            name: "LifecycleSimulation", dependencies: ["CoreAPI", "Lifecycle"], path: "Tests/LifecycleSimulation",
            swiftSettings: settings),
        .target(
            name: "Simulation", dependencies: ["CoreAPI", "StoreEngine", "Mailboxes", "Coordination"],
            path: "Tests/Simulation", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-simulate", dependencies: ["Simulation"], path: "Tests/Simulate",
            swiftSettings: settings),
        // The designs that are checked before they are built, as states and steps.
        .executableTarget(
            name: "sharedcore-models", path: "Tests/Models", swiftSettings: settings + optimizedSwift),
        tests("ModelTests", of: ["sharedcore-models"]),
        .target(
            name: "FileCases",
            dependencies: ["CoreAPI", "CoreAPITesting", "BundledHarnesses", "Platform", "TestSupport"],
            path: "Tests/FileCases", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-test-peer",
            dependencies: [
                "BundledHarnesses", "Coordination", "CoreAPI", "FileCases", "FileNotifyBackend", "InMemoryBackend",
                "Platform", "TestSupport", zmqBackend, .target(name: "CZMQ", condition: .when(traits: ["ZMQ"])),
            ],
            path: "Tests/Peer", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-test-configured", dependencies: ["SharedCore", "SharedCoreConfiguration"],
            path: "Tests/Configured", swiftSettings: settings),
        // The program of an application that adds a backend.
        .executableTarget(
            name: "sharedcore-test-hosted",
            dependencies: ["BackendRegistry", "CoreAPI", "FileNotifyBackend", "SharedCoreHost"], path: "Tests/Hosted",
            swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-network-watcher", dependencies: ["CoreAPI", "NetworkMonitor", "Platform"],
            path: "Tests/NetworkWatcher", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-etcd-trials",
            dependencies: ["CoreAPI", "Coordination", "Platform", "TestSupport", etcdBackend],
            path: "Tests/EtcdTrials", swiftSettings: settings),
        .executableTarget(
            name: "sharedcore-attack", dependencies: ["CoreAPITesting", "Platform", "TestSupport"],
            path: "Tests/Attack", swiftSettings: settings),
        // A stack in C with a loop, as the pages and the tests of `LoopCore` drive it.
        .target(name: "CDatagram", path: "Tests/CDatagram"),
        // What the pages show, compiled; linked by no program.
        .target(
            name: "Listings",
            dependencies: [
                "CDatagram", "CoreAPI", "FileNotifyBackend", "Mailboxes", "Wormholes", "Lifecycle", "Platform",
                "KeptSockets",
                "NetworkMonitor", "CoreAPITesting", "CoreAPITestingAdapters", "Coordination", "SharedCore",
                "SharedCoreConfiguration",
                programsOnly("Logging", of: "swift-log"),
                programsOnly("ServiceLifecycle", of: "swift-service-lifecycle"),
            ],
            path: "Tests/Listings", swiftSettings: settings),
        tests("DocumentationTests", of: ["FileCases", "Platform"]),
        tests("CoreAPITests", of: ["CoreAPI"]),
        tests("StoreEngineTests", of: ["CoreAPI", "StoreEngine"]),
        tests(
            "ConformanceTests",
            of: [
                "CoreAPI", "BundledHarnesses", "CoreAPITestingAdapters", "Mutants", "Platform", "sharedcore-test-peer",
            ]),
        tests("ConformanceXCTests", of: ["BundledHarnesses", "CoreAPITestingAdapters"]),
        tests(
            "FileNotifyTests",
            of: [
                "CoreAPI", "StoreEngine", "Replica", "FileNotifyBackend", "Platform", "CLinux", "BundledHarnesses",
                "FileCases", "sharedcore-test-peer", "sharedcore-test-sleeper",
            ]),
        .executableTarget(
            name: "sharedcore-test-sleeper",
            dependencies: ["Coordination", "CoreAPI", "FileNotifyBackend", "Platform"], path: "Tests/Sleeper",
            swiftSettings: settings),
        tests(
            "ZMQTests",
            of: [
                "Coordination", "CoreAPI", "Mailboxes", "StoreEngine", "Replica", "FileNotifyBackend",
                "InMemoryBackend", "ZMQBackend", "Platform", "sharedcore-test-peer",
            ]),
        tests("FileMutantTests", of: ["FileCases", "Platform", "sharedcore-test-peer"]),
        tests(
            "LogBackendTests",
            of: [
                "CoreAPI", "StoreEngine", "Replica", "LogBackend", "CoreAPITestingAdapters", "Platform",
                "TestInstruments",
            ]),
        tests(
            "PluginTests",
            of: [
                "BundledHarnesses", "CoreAPI", "CoreAPITestingAdapters", "LogBackend", "Platform", "PluginBackend",
                "sharedcore", "sharedcore-bench", "sharedcore-test-hosted", "sharedcore-test-peer",
            ], beside: ["C"]),
        tests("MailboxesTests", of: ["CoreAPI", "Mailboxes", "InMemoryBackend", "Platform"]),
        tests("WormholesTests", of: ["CoreAPI", "Mailboxes", "WormholeFormat", "Wormholes", "InMemoryBackend"]),
        tests(
            "CoordinationTests",
            of: [
                "CoreAPI", "StoreEngine", "Mailboxes", "Coordination", "FileNotifyBackend", "InMemoryBackend",
                "Listings", "Platform", "Simulation", "SharedCoreTesting", "sharedcore-test-peer",
            ]),
        .executableTarget(
            name: "sharedcore-test-main",
            dependencies: [
                "Coordination", "CoreAPI", "FileNotifyBackend", "KeptSockets", "Platform", "TestSupport",
            ],
            path: "Tests/KeptMain", swiftSettings: settings),
        tests(
            "KeeperTests",
            of: [
                "Coordination", "CoreAPI", "FileNotifyBackend", "Lifecycle", "KeptSockets", "Platform",
                "SharedCoreHost", "sharedcore",
                "sharedcore-test-main", "sharedcore-test-peer",
            ]),
        tests("SharedCoreTestingTests", of: ["CoreAPI", "Coordination", "Platform", "SharedCoreTesting"]),
        tests("LifecycleTests", of: ["CoreAPI", "Lifecycle", "LifecycleSimulation", "InMemoryBackend", "Platform"]),
        tests(
            "MaildirTests",
            of: ["CoreAPI", "Coordination", "FileNotifyBackend", "InMemoryBackend", "MaildirCore", "Platform"]),
        tests(
            "CommandCoreTests",
            of: [
                "BundledHarnesses", "CommandCore", "CoreAPI", "Coordination", "FileNotifyBackend", "InMemoryBackend",
                "Platform", "ProgramOutput",
            ]),
        tests(
            "NetworkMonitorTests", of: ["CoreAPI", "NetworkMonitor", "Platform", "sharedcore-network-watcher"],
            beside: ["Recorded"]),
        tests(
            "HostTests",
            of: [
                "CommandCore", "CoreAPI", "BackendRegistry", "Coordination", "ExecutorRun", "InMemoryBackend",
                "Lifecycle",
                "Mailboxes", "MaildirCore", "ProgramOutput", "Platform", "SharedCoreConfiguration", "Wormholes",
                "SharedCoreHost", "sharedcore", "sharedcore-test-configured", "sharedcore-test-peer", "ZMQBackend",
                programsOnly("ArgumentParser", of: "swift-argument-parser"),
                programsOnly("CoreMetrics", of: "swift-metrics"),
                programsOnly("Logging", of: "swift-log"),
                programsOnly("Subprocess", of: "swift-subprocess"),
            ]),
        // Its programs in C and Python are built and run by a script, against the library beside the tests.
        tests(
            "CLibraryTests",
            of: [
                "BundledHarnesses", "CLibrary", "Coordination", "CoreAPI", "CoreAPITestingAdapters", "CSharedCore",
                "FileNotifyBackend", "Mailboxes", "Platform", "Wormholes", "sharedcore",
            ],
            beside: ["C"]),
        tests("BenchTests", of: ["Platform", "ProgramOutput", "sharedcore-bench"]),
        tests(
            "SystemTests",
            of: [
                "CoreAPI", "FileNotifyBackend", "InMemoryBackend", "ZMQBackend", "Coordination", "MaildirCore",
                "Platform", "SharedCoreConfiguration", "SharedCoreHost", "sharedcore", "sharedcore-test-peer",
            ]),
    ]
)

// `@c` needs Swift 6.3: the C library is not in the package of an earlier one.
#if !compiler(>=6.3)
    package.targets.removeAll { ["CLibrary", "CLibraryTests"].contains($0.name) }
    package.products.removeAll { $0.name == "sharedcore-c" }
#endif

// The example on PostgreSQL is a package of its own; its benchmark is taken by the programs of this one (Scripts/bench-servers).
if Context.environment["SHAREDCORE_BENCH_POSTGRES"] != nil {
    let example = "Examples/PostgresBackend/Sources/"
    package.targets += [
        .systemLibrary(name: "CPostgres", path: example + "CPostgres"),
        .target(
            name: "PostgresBackend",
            dependencies: ["CPostgres", "BackendRegistry", "CoreAPI", "LogBackend", "Platform"],
            path: example + "PostgresBackend", swiftSettings: settings),
    ]
    let participant = package.targets.first { $0.name == "sharedcore-bench-participant" }
    participant?.dependencies.append("PostgresBackend")
    participant?.swiftSettings?.append(.define("POSTGRES"))
}

// A build with a sanitizer (`Scripts/sanitize`) takes long: it contains what the named tests need.
// The linker cannot make the static C program there.
if Context.environment["SHAREDCORE_SANITIZER"] != nil {
    package.targets.removeAll { $0.name == "sharedcore-limits" }
    let tests = Context.environment["SHAREDCORE_TESTS"] ?? ""
    var wanted = Set(tests.split(separator: " ").map(String.init))
    var size = 0
    while wanted.count > size {
        size = wanted.count
        for target in package.targets where wanted.contains(target.name) {
            for dependency in target.dependencies {
                switch dependency {
                case .targetItem(let name, _), .byNameItem(let name, _): wanted.insert(name)
                default: break
                }
            }
        }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products.removeAll { product in
        product.name == "sharedcore-c"
            ? !wanted.contains("CLibrary") : !(product is Product.Executable && wanted.contains(product.name))
    }
}

// The fuzz targets (`Scripts/fuzz`) need the runtime of libFuzzer, and are in no other build.
if Context.environment["SHAREDCORE_FUZZ"] != nil {
    package.targets.removeAll { [.test, .executable].contains($0.type) }
    package.products.removeAll { $0.name.hasPrefix("sharedcore") }
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "sharedcore-fuzz",
            dependencies: [
                "CFuzzer", "CommandCore", "CoreAPI", "Coordination", "ExecutorRun", "FileNotifyBackend", "KeptSockets",
                "MaildirCore", "Platform", "ProgramOutput", "SharedCoreConfiguration", "StoreEngine", "WormholeFormat",
                "ZMQBackend",
            ],
            path: "Tests/Fuzz/Sources", swiftSettings: settings),
    ]
}
