internal import Platform

extension StoreFigures {
    /// The least that something can take, measured in C.
    enum Limit: Sendable {
        case news, look, causalLook, put, putOnDisk

        /// What it is, and the order by which it is measured.
        func description(_ isBehindHub: Bool) -> (name: String, order: String) {
            switch self {
            case .news where isBehindHub: ("a relay of two hops through libzmq, in C", "oneway 100")
            case .news: ("inotify on a written byte, in C", "oneway 100")
            case .look where isBehindHub: ("request and reply through libzmq, in C", "get 50")
            case .look, .causalLook: ("a load of the tail and a copy of 256 bytes, in C", "get 50")
            case .put where isBehindHub: ("request and reply through libzmq, in C", "put 100")
            case .put: ("the journal by hand: lock, append, publish, ring, in C", "put 100")
            case .putOnDisk: ("the journal by hand, with fdatasync, in C", "put 20")
            }
        }

        func start(_ programs: BenchPrograms, in place: String, _ isBehindHub: Bool) async throws -> ChildProcess {
            switch self {
            case .news where isBehindHub: try await programs.measuring(.messagingLimits, "relay", place)
            case .news: try await programs.measuring(.limits, "inotify", place)
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
        case redis, redisOnDisk, bus, sqlite, sqliteOnDisk, etcd

        var name: String {
            switch self {
            case .redis: "Redis over a unix socket, in memory"
            case .redisOnDisk: "Redis over a unix socket, appendfsync always"
            case .bus: "signals over a D-Bus of its own"
            case .sqlite: "SQLite with a write-ahead log"
            case .sqliteOnDisk: "SQLite with a write-ahead log, synchronous FULL"
            case .etcd: "one node of etcd over a unix socket"
            }
        }

        var service: String {
            switch self {
            case .redis, .redisOnDisk: "redis"
            case .bus: "dbus"
            case .sqlite, .sqliteOnDisk: "sqlite"
            case .etcd: "etcd"
            }
        }

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
