internal import CoreAPI
internal import CoreAPITesting
internal import Foundation
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import ZMQBackend

extension ZMQTests {
    /// Starting a hub if none runs, with programs that are not hubs, so that a test can hold each step.
    @Suite("Starts of a hub", .serialized)
    struct HubLauncherTests {
        private let stage: HubStage

        init() throws {
            stage = try HubStage()
        }

        /// A program that is started instead of one that starts a hub: it counts its starts, waits for a file `go`, and
        /// runs a script.
        private func launcher(_ script: String) throws -> HubLauncher {
            let path = stage.directory.path(of: "program")
            let text = """
                #!/bin/sh
                cd "\(stage.directory.path)" && echo start >> starts
                until [ -e go ]; do [ -e starts ] || exit 1; sleep 0.02; done
                \(script)
                """
            try OpenFile(path: path, .create).write(Array(text.utf8), at: 0)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            return HubLauncher(program: path, arguments: [])
        }

        private func letGo() throws {
            try Data().write(to: URL(filePath: stage.directory.path(of: "go")))
        }

        private var starts: Int {
            let text = try? Data(contentsOf: URL(filePath: stage.directory.path(of: "starts")))
            return text?.count { $0 == UInt8(ascii: "\n") } ?? 0
        }

        private func open(with launcher: HubLauncher, timeout: Duration? = TestTimeout.usual) async throws {
            let group = try await stage.client {
                $0.launcher = launcher
                $0.openTimeout = timeout
            }
            await group.close()
        }

        @Test(
            "If a process ignores SIGCHLD, its hub is started, or the error says why it is not",
            arguments: ["", "echo 'sharedcore: the disk is on fire' >&2; exit 69", "exit 69"])
        func ignoredChildren(script: String) async throws {
            let launcher = try launcher(script)
            let peer = try Peer(
                PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")),
                through: ["env", "--ignore-signal=CHLD"])
            _ = try await peer.answer()
            try peer.send("open zmq \(stage.endpoint) \(launcher.program)")
            try await eventually("the program has begun") { starts > 0 }
            let hub = script.isEmpty ? try await stage.hub() : nil
            try letGo()
            let answer = try await peer.answer()
            switch script {
            case "": #expect(answer.hasPrefix("ok"), "\(answer)")
            case "exit 69": #expect(answer.contains("its program ended, and no hub answers."), "\(answer)")
            default: #expect(answer.contains("The hub could not be started: the disk is on fire"), "\(answer)")
            }
            await hub?.stop()
        }

        /// The number of tasks that have begun to wait.
        private final class Begun: Sendable {
            let count = Atomic(0)
        }

        @Test("One of the clients that wait for a hub tries to start it, and all get its failure")
        func sharedFailure() async throws {
            // The hub fails after two seconds: by then, a task that has begun waits, even on a busy machine.
            let launcher = try launcher("sleep 2; echo 'sharedcore: the disk is on fire' >&2; exit 69")
            let begun = Begun()
            try await withThrowingTaskGroup(of: SharedCoreError?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        begun.count.add(1, ordering: .sequentiallyConsistent)
                        do {
                            try await open(with: launcher)
                            return nil
                        } catch let error as SharedCoreError {
                            return error
                        }
                    }
                }
                try await eventually("all wait and one has begun") {
                    begun.count.load(ordering: .sequentiallyConsistent) == 8 && starts > 0
                }
                try letGo()
                for try await error in group {
                    #expect(error?.code == .unavailable)
                    #expect(
                        error?.message == "The hub could not be started: the disk is on fire",
                        "\(String(describing: error))")
                }
            }
            #expect(starts == 1)
            // A later client tries it again.
            await #expect(throws: SharedCoreError.self) { try await open(with: launcher) }
            #expect(starts == 2)
        }

        @Test(
            "A status says what kind of fault it is",
            arguments: [(78, "forbidden"), (64, "invalidArgument"), (1, "unavailable")])
        func statuses(status: Int, code: String) async throws {
            let launcher = try launcher("exit \(status)")
            try letGo()
            let error = await #expect(throws: SharedCoreError.self) { try await open(with: launcher) }
            #expect(error?.code.description == code)
            #expect(error?.message.contains("status \(status)") == true)
        }

        @Test(
            "A program that is stopped in the middle of a start is killed and told of, and the next client starts another",
            arguments: ["", "exec 2>&-"])
        func stopped(script: String) async throws {
            let launcher = try launcher("\(script)\necho $$ > pid; kill -STOP $$")
            try letGo()
            let place = stage.directory.path(of: "pid")
            let (error, timeout) = try await withEnoughTime(toWrite: place) { timeout in
                let start = HubStart(
                    path: stage.directory.path(of: "hub"), launcher: launcher, isReplacement: false,
                    since: SystemClock().now(), timeout: timeout)
                return await #expect(throws: SharedCoreError.self) {
                    _ = try await withTimeout(timeout + TestTimeout.usual, "the start is given up") {
                        try await SerialThread(name: "start").run { () throws(SharedCoreError) in try start.step() }
                    }
                }
            }
            #expect(error?.code == .unavailable, "\(String(describing: error))")
            let sentence = "did not end within \(timeout.components.seconds) s and was killed"
            #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
            let text = try String(contentsOfFile: place, encoding: .utf8)
            let pid = try #require(Int32(text.dropLast()))
            #expect(kill(pid, 0) != 0, "it is reaped")
            let before = starts
            await #expect(throws: SharedCoreError.self) { try await open(with: self.launcher("exit 69")) }
            #expect(starts == before + 1)
        }

        @Test("The end of a program is known though a process that it left has its standard error")
        func heir() async throws {
            let launcher = try launcher("sleep 1000 & echo $! > pid; echo 'sharedcore: no' >&2; exit 69")
            try letGo()
            let error = await #expect(throws: SharedCoreError.self) { try await open(with: launcher) }
            #expect(error?.message == "The hub could not be started: no", "\(String(describing: error))")
            let text = try String(contentsOfFile: stage.directory.path(of: "pid"), encoding: .utf8)
            kill(try #require(Int32(text.dropLast())), SIGKILL)
        }

        @Test("No signal is blocked in the program, although the thread that starts it blocks all")
        func signals() async throws {
            // No shell: some shells begin by unblocking all signals.
            let file = stage.directory.path(of: "status")
            let launcher = HubLauncher(program: "/usr/bin/dd", arguments: ["if=/proc/self/status", "of=\(file)"])
            let opening = Task { try await open(with: launcher, timeout: nil) }
            func mask() -> Substring? {
                let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                return text.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            }
            try await eventually("the program has told its state") { mask() != nil }
            #expect(mask() == "SigBlk:\t0000000000000000")
            opening.cancel()
            _ = await opening.result
        }

        @Test("No process starts a hub while another does, and one that waits takes over from one that is gone")
        func oneAtATime() async throws {
            let launcher = try launcher("exit 69")
            try letGo()
            var starter: OpenFile? = try OpenFile(path: stage.directory.path(of: "hub.start"), .create)
            #expect(try starter?.tryLock(byteAt: 0) == true)
            let late = await #expect(throws: SharedCoreError.self) {
                try await open(with: launcher, timeout: .milliseconds(300))
            }
            #expect(late?.code == .unavailable && late?.message.contains("not there in time") == true)
            #expect(starts == 0)
            starter = nil
            await #expect(throws: SharedCoreError.self) { try await open(with: launcher) }
            #expect(starts == 1)
        }

        @Test("No hub is started if one answers")
        func found() async throws {
            let hub = try await stage.hub()
            try await open(with: try launcher("exit 69"))
            #expect(starts == 0)
            await hub.stop()
        }

        @Test("A hub that comes while another is started is as good, also when that one failed")
        func another() async throws {
            let launcher = try launcher("exit 69")
            async let opening: Void = open(with: launcher)
            try await eventually("the program runs") { starts == 1 }
            let hub = try await stage.hub()
            try letGo()
            try await opening
            await hub.stop()
        }

        @Test("A hub that ends before it has let a client in is followed by another")
        func endedWhileJoining() async throws {
            let launcher = try launcher("exit 0")
            // The state of a dying hub: it has its lock, and answers no client.
            var dying: OpenFile? = try OpenFile(path: stage.directory.path(of: "hub.lock"), .create)
            #expect(try dying?.tryLock(byteAt: 0) == true)
            try dying?.write(HubRecord(.onFiles, FormerClients()).bytes, at: 0)
            async let opening: Void = open(with: launcher)
            try await eventually("the client has begun to connect") { isConnecting }
            #expect(starts == 0)
            dying = nil
            try await eventually("another is started") { starts > 0 }
            let hub = try await stage.hub()
            try letGo()
            try await opening
            await hub.stop()
        }

        @Test("A hub that was killed is replaced by a client that had joined, and nothing is lost")
        func killed() async throws {
            let first = try await stage.hubProcess()
            let launcher = try launcher("exit 0")
            let group = try await stage.client { $0.launcher = launcher }
            try await group.put("key", text: "one")
            first.process.signal(.kill)
            try await eventually("the client starts another") { starts == 1 }
            let second = try await stage.hub()
            try letGo()
            try await group.put("key", text: "two")
            #expect(try await group.text("key") == "two")
            await group.close()
            await second.stop()
        }

        @Test("A hub that was told to end stays ended with any state of its clients")
        func toldToEnd() async throws {
            let launcher = try launcher("exit 0")
            let hub = try await stage.hub()
            let group = try await stage.client { $0.launcher = launcher }
            await hub.stop()
            try await withTimeout(TestTimeout.usual, "none is to be started") {
                try await launcher.launch(at: stage.endpoint, timeout: nil, asReplacement: true)
            }
            #expect(starts == 0)
            await group.close()
        }

        @Test("A hub that cannot start where another was killed is told of, and one that did not start was not killed")
        func failedReplacement() async throws {
            let launcher = try launcher("echo 'sharedcore: the disk is on fire' >&2; exit 69")
            let first = try await stage.hubProcess()
            let group = try await stage.client {
                $0.launcher = launcher
                $0.requestTimeout = .seconds(1)
            }
            try letGo()
            first.process.signal(.kill)
            try await eventually("a caller hears why there is no hub") {
                do throws(SharedCoreError) {
                    try await group.sync()
                    return false
                } catch {
                    return error.cause?.contains("the disk is on fire") == true
                }
            }
            #expect(starts > 0)
            await group.close()
            // A hub with a start that fails behind its lock, here for a port that is taken.
            let taken = try StreamListener(host: "127.0.0.1", port: 0)
            let port = try #require(taken.port)
            await #expect(throws: SharedCoreError.self) {
                _ = try await stage.hub(at: [stage.endpoint, .tcp(host: "127.0.0.1", port: port)])
            }
            #expect(try HubEndpointState.ofSocket(stage.directory.path(of: "hub")) == .free)
        }

        /// True if this process has a thread that talks to a hub.
        private var isConnecting: Bool {
            let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            return (threads ?? []).contains { thread in
                let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
                return name?.hasPrefix("sc-hub-link") == true
            }
        }

        @Test("A cancelled client does not wait for the hub that it has started")
        func cancelled() async throws {
            let launcher = try launcher("exit 0")
            let opening = Task { try await open(with: launcher, timeout: nil) }
            try await eventually("the program runs") { starts == 1 }
            opening.cancel()
            let error = await #expect(throws: SharedCoreError.self) { try await opening.value }
            #expect(error?.code == .cancelled)
            try letGo()
        }
    }
}
