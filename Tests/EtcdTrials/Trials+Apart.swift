#if Etcd
    internal import EtcdBackend
    internal import FoundationEssentials
    internal import Glibc
    internal import Platform
    internal import TestSupport

    /// The reason that a trial was not made.
    struct NotTried: Error {
        let reason: String
    }

    extension Trials {
        /// Main in one network namespace, an Executor and the cluster in another: a hand-over, a message, then the line is cut.
        func apart() async throws -> String {
            let network: NetworkPair
            do { network = try NetworkPair() } catch {
                // As root, with the program, the reason of the failure is an error.
                if geteuid() == 0, NetworkPair.ip != nil { throw error }
                throw NotTried(reason: "this needs root, network namespaces and iproute2: \(error)")
            }
            let directory = try cluster.subdirectory("apart")
            let node = try cluster.alone("apart", host: network.hubAddress, through: network.atHub)
            defer { node.kill() }
            let play = try Play(network: network, node: node, directory: directory)
            try await eventually("the member answers") {
                try await play.run("store", "put", "ready", "yes").end() == .exited(0)
            }
            let first = try play.run("executor", "--call-id", "first", "--timeout", "120s")
            try await eventually("the Executor owns") { try await play.owner() == "executor" }
            let main = try play.run("main", atOtherEnd: true)
            try await eventually("Main owns") { main.lines.contains { $0.contains("\"event\":\"owning\"") } }
            try play.deliver("first")
            try await eventually("the Executor has its message") { first.ended != nil }
            try expect(first.ended == .exited(0), "the Executor: \(first.lines)")
            try expect(first.lines.contains { $0.contains("hello first") }, "the Executor: \(first.lines)")

            try network.cut()
            let cut = ContinuousClock.now
            let second = try play.run("executor", "--call-id", "second", "--timeout", "120s")
            try await eventually("the other Executor owns") { try await play.owner() == "executor" }
            let waited = cut.duration(to: .now)
            try play.deliver("second")
            try await eventually("the other Executor has its message") { second.ended != nil }
            try expect(second.ended == .exited(0), "the other Executor: \(second.lines)")
            try expect(second.lines.contains { $0.contains("hello second") }, "the other Executor: \(second.lines)")
            try network.heal()
            try await eventually("Main ends") { main.ended != nil }
            try expect(
                main.lines.last?.contains("\"event\":\"sessionEnded\"") == true, "Main: \(main.lines)")
            let check = try play.run("check")
            let verdict = await check.end()
            try expect(verdict == .exited(0), "the timeline: \(check.lines)")
            return "taken over \(waited) after the cut"
        }

        /// The programs at both ends.
        private struct Play {
            let network: NetworkPair
            let directory: String
            let environment: [String: String]

            init(network: NetworkPair, node: Node, directory: String) throws {
                self.network = network
                self.directory = directory
                environment = [
                    "SHAREDCORE_ETCD_ENDPOINTS": node.endpoint.description,
                    "SHAREDCORE_CORE_MAILDIR": directory + "/Maildir",
                ]
                for name in ["", "/tmp", "/new", "/cur"] {
                    _ = try Directory.create(path: directory + "/Maildir" + name, permissions: 0o700)
                }
            }

            /// Starts a command of the program, beside the cluster or at the other end of the line.
            func run(_ words: String..., atOtherEnd isDistant: Bool = false) throws -> ChildProcess {
                let entry = isDistant ? network.atClient : network.atHub
                // Each machine has files of its own, so no witness in them sees the core that runs on at the other end:
                // no process can stop it before it hears of its end. Its writes are refused, which the timeline proves.
                var environment = environment
                environment["SHAREDCORE_STATE_DIRECTORY"] = directory + (isDistant ? "/distant" : "/near")
                return try ChildProcess(
                    entry[0],
                    entry.dropFirst() + [OwnProgram.sibling("sharedcore"), "--json", "--backend", "etcd"] + words,
                    environment: environment, errors: directory + "/errors.log")
            }

            /// The role of the owner.
            func owner() async throws -> String? {
                let status = try run("status")
                guard await status.end() == .exited(0), let line = status.lines.last else { return nil }
                return try JSONDecoder().decode(Status.self, from: Data(line.utf8)).owner?.role
            }

            /// A message comes in, which both machines can reach.
            func deliver(_ callID: String) throws {
                let text = "From: <zoe@example>\r\nTo: <you@example>\r\nCall-ID: \(callID)\r\n\r\nhello \(callID)\r\n"
                let (written, delivered) = (directory + "/Maildir/tmp/" + callID, directory + "/Maildir/new/" + callID)
                try OpenFile(path: written, .create).write(Array(text.utf8), at: 0)
                try expect(rename(written, delivered) == 0, "the message cannot be delivered")
            }
        }

        private struct Status: Decodable {
            struct Owner: Decodable {
                let role: String
            }

            let owner: Owner?
        }
    }
#endif
