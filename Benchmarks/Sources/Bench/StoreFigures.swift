internal import BackendRegistry
internal import CoreAPI
internal import Platform

/// The times of the store and of the notifications, beside the least possible ones and services that users know.
struct StoreFigures: Sendable {
    static let names = [
        "notify.oneway", "store.get", "store.get.causal", "store.put", "store.put.disk", "store.put.disk.8",
    ]

    let programs: BenchPrograms
    let stage: BenchStage
    /// True for the backend that exists in one process alone.
    let isInMemory: Bool

    private var isBehindHub: Bool { stage.isBehindHub }

    func figure(_ name: String, rounds: Int?) async throws -> Figure {
        switch name {
        case "notify.oneway":
            try make(name, order: "oneway 100", rounds: rounds ?? 20, limit: .signalUpdates, peers: .notifying)
        case "store.get": try make(name, order: "get 50", rounds: rounds ?? 20, limit: .look, peers: .storing)
        case "store.get.causal": try make(name, order: "look 50", rounds: rounds ?? 20, limit: .causalLook, peers: [])
        case "store.put": try make(name, order: "put 100", rounds: rounds ?? 20, limit: .put, peers: .storing)
        case "store.put.disk":
            try make(
                name, order: "put 20", rounds: rounds ?? 20, limit: .putOnDisk, peers: .storingOnDisk, isOnDisk: true)
        default: try make(name, order: "puts 5", rounds: rounds ?? 20, limit: .putOnDisk, peers: [], isOnDisk: true)
        }
    }

    /// The participants of a meter: one that has the group open and takes orders, and for messages on their way one
    /// that answers.
    private func ownMeter(_ order: String, in place: String, of group: BackendConfiguration) -> BenchMeter {
        BenchMeter { [programs] in
            let taker = try await programs.participant(.store, .tool, in: place, of: group)
            guard order.hasPrefix("oneway") else { return [taker] }
            let echo = try await programs.participant(.store, .tool, in: place, of: group)
            try await echo.numbers(after: order.hasSuffix(" 1") ? "echo 1 1" : "echo 1")
            return [echo, taker]
        }
    }

    private func make(
        _ name: String, order: String, rounds: Int, limit: Limit, peers: [Peer], isOnDisk: Bool = false
    ) throws -> Figure {
        var meters: [BenchMeter] = []
        func rival(
            _ name: String, _ order: String, _ start: @escaping @Sendable () async throws -> ChildProcess
        ) -> Figure.Rival {
            let meter = BenchMeter { [try await start()] }
            meters.append(meter)
            return .init(name: name) { try await meter.take(order) }
        }
        var group = stage.isolated(name)
        if isOnDisk { group.durability = .disk }
        if isInMemory {
            let meter = MemoryBenchMeter()
            return Figure(
                name: name, unit: "us", rounds: rounds, own: { try await meter.take(order) },
                end: { await meter.end() })
        }
        let place = try stage.place("store")
        let own = ownMeter(order, in: place, of: group)
        meters.append(own)
        var limitRival: Figure.Rival?
        if !stage.isOnServer || limit == .causalLook {
            let (limitName, limitOrder) = limit.description(isBehindHub)
            limitRival = rival(limitName, limitOrder) { [programs, stage, isBehindHub] in
                try await limit.start(programs, in: try stage.place("limit"), isBehindHub)
            }
        }
        var beside: [Figure.Rival] = []
        if limit == .signalUpdates, !stage.isOnServer {
            beside.append(
                rival("futex in shared memory, in C", "oneway 100") { [programs, stage] in
                    try await programs.measuring(.limits, "futex", try stage.place("limit"))
                })
            // All clients of a hub hear of each post, so that two pairs would disturb each other.
            if !isBehindHub {
                let onPool = ownMeter(order + " 1", in: place, of: stage.isolated(name + "-pool"))
                meters.append(onPool)
                beside.append(
                    .init(name: "whoever takes deliveries on Swift's pool") { try await onPool.take(order + " 1") })
            }
        }
        if isBehindHub, limit == .look || limit == .put {
            let onPool = order.replacing(" ", with: ".pool ", maxReplacements: 1)
            beside.append(.init(name: "whoever asks on Swift's pool") { try await own.take(onPool) })
        }
        let comparable = stage.isOnServer ? Peer.services(of: stage.group.backend, for: limit) : peers
        let peerRivals = comparable.map { peer in
            rival(peer.name, peer.order(for: order)) { [programs, stage] in
                try await programs.measuring(
                    .services, peer.service, try stage.place("peer"), isOnDisk ? "disk" : peer.durability)
            }
        }
        return Figure(
            name: name, unit: "us", rounds: rounds, own: { try await own.take(order) }, limit: limitRival,
            peers: peerRivals, beside: beside,
            end: { [meters] in for meter in meters { await meter.end() } })
    }
}

extension StoreFigures {
    /// The least that something can take, measured in C.
    enum Limit: Sendable {
        case signalUpdates, look, causalLook, put, putOnDisk

        /// The name of the figure, and the order by which it is measured.
        func description(_ isBehindHub: Bool) -> (name: String, order: String) {
            switch self {
            case .signalUpdates where isBehindHub: ("a relay of two hops through libzmq, in C", "oneway 100")
            case .signalUpdates: ("inotify on a written byte, in C", "oneway 100")
            case .look where isBehindHub: ("request and reply through libzmq, in C", "get 50")
            case .look, .causalLook: ("a load of the tail and a copy of 256 bytes, in C", "get 50")
            case .put where isBehindHub: ("request and reply through libzmq, in C", "put 100")
            case .put: ("the journal by hand: lock, append, publish, ring, in C", "put 100")
            case .putOnDisk: ("the journal by hand, with fdatasync, in C", "put 20")
            }
        }

        func start(_ programs: BenchPrograms, in place: String, _ isBehindHub: Bool) async throws -> ChildProcess {
            switch self {
            case .signalUpdates where isBehindHub: try await programs.measuring(.messagingLimits, "relay", place)
            case .signalUpdates: try await programs.measuring(.limits, "inotify", place)
            case .look where isBehindHub, .put where isBehindHub:
                try await programs.measuring(.messagingLimits, "request", place)
            case .look, .causalLook: try await programs.measuring(.limits, "look", place)
            case .put: try await programs.measuring(.limits, "journal", place, "process")
            case .putOnDisk: try await programs.measuring(.limits, "journal", place, "disk")
            }
        }
    }

    /// A service that users know.
    enum Peer: Sendable {
        case redis, redisWithLog, redisOnDisk, bus, sqlite, sqliteOnDisk, etcd, postgres

        /// Returns the service that keeps the groups of a backend.
        static func services(of backend: String, for limit: Limit) -> [Peer] {
            switch backend {
            case "etcd" where limit == .look || limit == .put: [.etcd]
            case "redis" where limit != .causalLook: [.redisWithLog]
            case "postgres" where limit != .causalLook: [.postgres]
            default: []
            }
        }

        var name: String {
            switch self {
            case .redis: "Redis over a unix socket, in memory"
            case .redisWithLog: "Redis over a unix socket, appendfsync no"
            case .redisOnDisk: "Redis over a unix socket, appendfsync always"
            case .bus: "signals over a D-Bus of its own"
            case .sqlite: "SQLite with a write-ahead log"
            case .sqliteOnDisk: "SQLite with a write-ahead log, synchronous FULL"
            case .etcd: "one node of etcd over a unix socket"
            case .postgres: "PostgreSQL, the same server, by libpq"
            }
        }

        var service: String {
            switch self {
            case .redis, .redisWithLog, .redisOnDisk: "redis"
            case .bus: "dbus"
            case .sqlite, .sqliteOnDisk: "sqlite"
            case .etcd: "etcd"
            case .postgres: "postgres"
            }
        }

        /// The word for what a put survives, where that is not a loss of power.
        var durability: String { self == .redisWithLog ? "log" : "process" }

        /// As many samples as the figure takes, of those that take long a few.
        func order(for own: String) -> String {
            guard self == .etcd else { return own }
            return (own.split(separator: " ").first.map(String.init) ?? own) + " 5"
        }
    }
}

extension [StoreFigures.Peer] {
    static var notifying: [StoreFigures.Peer] { [.redis, .bus] }
    static var storing: [StoreFigures.Peer] { [.redis, .sqlite] }
    static var storingOnDisk: [StoreFigures.Peer] { [.redisOnDisk, .sqliteOnDisk, .etcd] }
}
