internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    @Suite("Visitors of a keeper", .serialized)
    struct VisitorTests {
        private let stage: KeeperStage

        init() throws {
            stage = try KeeperStage()
        }

        private func start() async throws {
            try await stage.start(["sleep", "1000"])
            try await stage.until("Main runs") { $0.main != nil }
        }

        private func code(_ message: KeeperMessage?) -> KeeperProblem.Code? {
            if case .refused(let problem) = message { problem.code } else { nil }
        }

        @Test("The keeper refuses garbage and continues to work")
        func garbage() async throws {
            try await start()
            let connection = try stage.connect()
            for bytes: [UInt8] in [[0], [0xff, 0xfe], Array("HELLO 9".utf8), Array("CONFIGURE \0\0".utf8)] {
                #expect(code(try await stage.ask(bytes, over: connection)) == .malformed)
            }
            let long = [UInt8](repeating: UInt8(ascii: "A"), count: KeeperLimits.messageByteCount + 1)
            #expect(code(try await stage.ask(long, over: connection)) == .tooLong)
            #expect(try await stage.ask(Array("STATUS".utf8), over: connection) != nil)
        }

        @Test("Requests of Main alone need its greeting, and one process at a time has greeted")
        func greeting() async throws {
            try await start()
            let first = try stage.connect()
            for word in ["TAKE", "ASLEEP", "ALIVE", "LEAVING", "KEEP x", "RELEASE x", "CALLS 1"] {
                #expect(code(try await stage.ask(Array(word.utf8), over: first)) == .notMain)
            }
            #expect(try await stage.ask(Array("HELLO 1".utf8), over: first) == .done)
            let second = try stage.connect()
            #expect(code(try await stage.ask(Array("HELLO 1".utf8), over: second)) == .busy)
            #expect(code(try await stage.ask(Array("KEEP x".utf8), over: first)) == .noSocket)
            #expect(code(try await stage.ask(Array("RELEASE x".utf8), over: first)) == .unknown)
            let file = try OpenFile(path: "/dev/null", .read)
            #expect(code(try await stage.ask(Array("KEEP x".utf8), with: file, over: first)) == .noSocket)
        }

        @Test("No more sockets are kept than the limit, and no descriptor of a refused one stays")
        func limit() async throws {
            try await start()
            let connection = try stage.connect()
            _ = try await stage.ask(Array("HELLO 1".utf8), over: connection)
            let socket = OpenFile(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), path: "socket")
            for number in 0..<KeeperLimits.socketCount {
                #expect(try await stage.ask(Array("KEEP s\(number)".utf8), with: socket, over: connection) == .done)
            }
            let before = try openFiles()
            for _ in 0..<20 {
                #expect(code(try await stage.ask(Array("KEEP more".utf8), with: socket, over: connection)) == .tooMany)
                #expect(code(try await stage.ask(Array("nonsense".utf8), with: socket, over: connection)) == .malformed)
                #expect(try await stage.ask(Array("KEEP s1".utf8), with: socket, over: connection) == .done)
            }
            #expect(try openFiles() == before)
        }

        @Test(
            "Another user's process is let go, even where the socket would let it in",
            .enabled(
                if: Glibc.access(setpriv, X_OK) == 0 && getuid() == 0, "it takes root and setpriv to be another user"))
        func stranger() async throws {
            try await start()
            for (path, mode) in [
                (stage.directory.path, 0o755), (stage.place.directory, 0o755), (stage.place.socket, 0o777),
            ] { #expect(chmod(path, mode_t(mode)) == 0) }
            let open = try TemporaryDirectory()
            #expect(chmod(open.path, 0o777) == 0)
            // A place where another user finds it, wherever it was built.
            let program = open.path(of: "main")
            let copy = try ChildProcess("cp", [try ChildProcess.built("sharedcore-test-main"), program])
            #expect(await copy.end() == .exited(0) && chmod(program, 0o755) == 0)
            let server = try LineServer()
            func visit(as user: String) async throws -> [String] {
                let notebook = open.path(of: "notebook-" + user)
                let visitor = try ChildProcess(
                    Self.setpriv,
                    ["--reuid", user, "--regid", user, "--clear-groups", program, String(server.port), notebook],
                    environment: ["SHAREDCORE_KEEPER": stage.place.socket], errors: open.path(of: "errors-" + user))
                func notes() -> [String] { KeeperStage.lines(notebook) }
                try await eventually("it was let in, or has ended") {
                    notes().contains("connected") || visitor.ended != nil
                }
                visitor.signal(.kill)
                _ = await visitor.end()
                return notes()
            }
            let stranger = try await visit(as: "65534")
            #expect(stranger.contains { $0.hasPrefix("start") } && !stranger.contains("connected"))
            #expect(try await visit(as: "0").contains("connected"))
        }

        @Test(
            "A keeper begins behind no link of another user",
            .enabled(if: getuid() == 0, "it takes root to give a link away"))
        func foreignLink() async throws {
            let place = stage.directory.path(of: "place")
            #expect(mkdir(place, 0o700) == 0 && symlink(".", stage.directory.path(of: "link")) == 0)
            #expect(lchown(stage.directory.path(of: "link"), 65534, 65534) == 0)
            let configuration = KeeperConfiguration(command: ["sleep", "1000"], options: KeeperStage.options())
            let log = stage.directory.path(of: "log")
            let keeper = try ChildProcess(
                try ChildProcess.built("sharedcore-keeper"),
                ["--directory", stage.directory.path(of: "link/place")] + configuration.arguments, errors: log)
            try await eventually("it has ended") { keeper.ended != nil }
            #expect(keeper.ended == .exited(78) && KeeperStage.lines(log).joined().contains("link of another user"))
        }

        @Test(
            "A keeper of another user is not talked to, also where its socket would let one in",
            .enabled(
                if: Glibc.access(setpriv, X_OK) == 0 && getuid() == 0, "it takes root and setpriv to be another user"))
        func strangersKeeper() async throws {
            let open = try TemporaryDirectory()
            let theirs = open.path(of: "theirs")
            #expect(chmod(open.path, 0o755) == 0 && mkdir(theirs, 0o700) == 0 && chown(theirs, 65534, 65534) == 0)
            // A place where another user finds it, wherever it was built.
            let program = open.path(of: "keeper")
            let copy = try ChildProcess("cp", [try ChildProcess.built("sharedcore-keeper"), program])
            #expect(await copy.end() == .exited(0) && chmod(program, 0o755) == 0)
            let place = KeeperPlace(directory: theirs)
            let stage = try KeeperStage(in: open, place: place)
            let keeper = try ChildProcess(
                Self.setpriv,
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", program, "--directory", theirs]
                    + ["--", "sleep", "60"])
            try await eventually("it listens, and its Main has the lock") {
                (try? FileStatus(ofPath: place.socket)) != nil && stage.mainPid != nil
            }
            let error = #expect(throws: SystemCallError.self) { _ = try MessageSocket(connectingTo: place.socket) }
            #expect(error?.number == EACCES)
            keeper.signal(.kill)
            _ = await keeper.end()
        }

        private static let setpriv = "/usr/bin/setpriv"

        private func openFiles() throws -> Int {
            try Directory(path: "/proc/\(stage.keeper?.pid ?? 0)/fd").names().count
        }

        @Test("Connections that have ended before the keeper saw them take no place from the next one")
        func endedCrowd() async throws {
            try await start()
            let keeper = try #require(stage.keeper)
            await keeper.freeze()
            for _ in 0..<(KeeperLimits.visitorCount + 8) { _ = try stage.connect() }
            let next = try stage.connect()
            try next.send(Array("STATUS".utf8))
            keeper.signal(.continue)
            var arrival = MessageSocket.Arrival.nothing
            try await eventually("the keeper answers or has closed") {
                arrival = next.receive(upTo: KeeperLimits.messageByteCount)
                if case .nothing = arrival { return false } else { return true }
            }
            guard case .message(let bytes, _) = arrival, case .status = KeeperMessage(bytes) else {
                Issue.record("not a status: \(arrival)")
                return
            }
        }

        @Test("Connections beyond the limit are closed, and those before them still served")
        func crowd() async throws {
            try await start()
            let first = try stage.connect()
            var crowd: [MessageSocket] = []
            for _ in 0..<(2 * KeeperLimits.visitorCount) { crowd.append(try stage.connect()) }
            #expect(try await stage.ask(Array("STATUS".utf8), over: first) != nil)
            try await eventually("those that are too many are closed") {
                crowd.count { if case .end = $0.receive(upTo: 10) { true } else { false } } > KeeperLimits.visitorCount
            }
            crowd = []
            try await stage.until("it answers again") { $0.main != nil }
        }
    }
}
