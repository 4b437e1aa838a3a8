internal import CoreAPITesting
internal import Glibc
internal import Platform

/// The surroundings of a second process of a case.
extension CaseContext {
    /// A fail point of the backend: a process that is armed with it does not poll without a signal.
    static let onlyWhenWoken = "look.idle:fail"

    /// Starts a second process that has not joined yet.
    ///
    /// - Parameters:
    ///   - place: The fail points that are armed from the start.
    ///   - arguments: The command that runs before it and executes it.
    func start(arming place: String? = nil, through arguments: [String] = []) async throws -> Peer {
        guard let program = harness.peer else {
            throw HarnessLimitation("the harness “\(harness.name)” has no program for a second process")
        }
        let peer = try Peer(
            program, environment: ["SHAREDCORE_FAIL_POINT": place], through: arguments,
            noting: { [weak self] in self?.note($0) })
        _ = try await peer.answer()
        return peer
    }

    /// Starts a second process that has a group open, observes the name `a`, and is woken by wake channels alone.
    ///
    /// It needs an inotify instance, of which the system gives a user about a hundred. Other processes may have taken
    /// all of them for a while. A process without one waits at shared memory, which works as well in another way.
    func startHearingBells(of address: String) async throws -> Peer {
        var found: Peer?
        try await eventually("the system gives an inotify instance", timeout: TestTimeout.long) {
            let peer = try await start(arming: Self.onlyWhenWoken)
            try await peer.tell("open \(address)")
            try await peer.tell("observe a")
            if try peer.hasInotifyInstance { found = peer }
            return found != nil
        }
        return try expectSome(found, "a process that hears bells")
    }

    /// Starts a second process that cannot tell what numbers of processes mean to it, as in a container, so that only the
    /// locks of the others say whether they live. The rest of /proc stays: the system's dispatch library needs it.
    func startWithoutProcesses() async throws -> Peer {
        try await start(through: Self.namespace + ["sh", "-c", "mount -t tmpfs none /proc/$$/ns && exec \"$0\""])
    }

    /// Starts a second process for which `path` is a file system of one MiB, which the system removes when the process
    /// ends.
    func startOnSmallDisk(at path: String) async throws -> Peer {
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir", number: errno, at: path) }
        let script = "mount -t tmpfs -o size=1m,mode=700 none '\(path)' && exec \"$0\""
        return try await start(through: Self.namespace + ["sh", "-c", script])
    }

    /// Starts a second process that sees all files at the same places as another one does.
    func start(beside other: Peer, arming place: String? = nil) async throws -> Peer {
        let enter = ["nsenter", "--target", "\(other.pid)", "--mount"]
        return try await start(
            arming: place, through: enter + (geteuid() == 0 ? [] : ["--user", "--preserve-credentials"]))
    }

    /// Mounts of one's own.
    private static var namespace: [String] {
        ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--user", "--map-root-user"])
    }
}

extension Peer {
    fileprivate var hasInotifyInstance: Bool {
        get throws {
            let path = "/proc/\(pid)/fd"
            return try Directory(path: path).names().contains { name in
                var target = [CChar](repeating: 0, count: 64)
                let count = max(0, readlink(path + "/" + name, &target, target.count))
                return String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self).hasSuffix(
                    "inotify")
            }
        }
    }
}
