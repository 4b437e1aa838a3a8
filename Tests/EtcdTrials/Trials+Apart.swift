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
            // Main's core stops before its lease may be over. Otherwise the witness of both would see it beside the
            // Executor's.
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
            try await commandsApart(play)
            let check = try play.run("check")
            let verdict = await check.end()
            try expect(verdict == .exited(0), "the timeline: \(check.lines)")
            // The cores of fenced owners count as well. There was none.
            try expect(
                check.lines.last?.contains("\"supersededOverlaps\":0") == true, "two cores at once: \(check.lines)")
            return "taken over \(waited) after the cut"
        }

        /// The command of a Main that is cut off ends before that of another Main begins.
        private func commandsApart(_ play: Play) async throws {
            let far = try play.runExclusively("far", atOtherEnd: true)
            try await eventually("the command at the other end runs") { play.commandNotes.count == 1 }
            try play.network.cut()
            let near = try play.runExclusively("near")
            try await eventually("the other command runs") { play.commandNotes.contains { $0.hasPrefix("begin near") } }
            try play.network.heal()
            try await eventually("the one that was cut off has ended") { far.ended != nil }
            near.signal(.terminate)
            try await eventually("the other has ended") { near.ended != nil }
            let words = play.commandNotes.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
            try expect(
                words == ["begin far", "end far", "begin near", "end near"],
                "the commands, by the boot clock: \(play.commandNotes)")
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
                    // A third of this is the time in which a core must stop, also on a busy machine.
                    "SHAREDCORE_ETCD_LEASE": "12s",
                    "SHAREDCORE_CORE_MAILDIR": directory + "/Maildir",
                    // Both ends have one state directory: the witness in it sees two cores that run at once.
                    "SHAREDCORE_STATE_DIRECTORY": directory + "/state",
                ]
                for name in ["", "/tmp", "/new", "/cur"] {
                    _ = try Directory.create(path: directory + "/Maildir" + name, permissions: 0o700)
                }
            }

            /// Starts a command of the program, beside the cluster or at the other end of the line.
            func run(_ words: String..., atOtherEnd isDistant: Bool = false) throws -> ChildProcess {
                let entry = isDistant ? network.atClient : network.atHub
                return try ChildProcess(
                    entry[0],
                    entry.dropFirst() + [OwnProgram.sibling("sharedcore"), "--json", "--backend", "etcd"] + words,
                    environment: environment, errors: directory + "/errors.log")
            }

            /// Starts a command under a Main that takes over. The command records when it runs, and whether another
            /// command ran at that time.
            func runExclusively(_ name: String, atOtherEnd isDistant: Bool = false) throws -> ChildProcess {
                let command = """
                    exec 9>>"$1.lock"
                    flock -n 9 || echo "overlap $2" >>"$1"
                    note() { echo "$1 $2 $(cut -d" " -f1 /proc/uptime)" >>"$3"; }
                    note begin "$2" "$1"
                    trap 'note end "$2" "$1"; exit 0' TERM
                    while :; do sleep 0.05 9>&-; done
                    """
                return try run(
                    "exclusive", "--role", "main", "--take-over", "--name", name, "--", "sh", "-c", command, "sh",
                    directory + "/commands", name, atOtherEnd: isDistant)
            }

            /// The notes of the commands, in their order.
            var commandNotes: [String] {
                (OpenFile.text(of: directory + "/commands") ?? "").split(separator: "\n").map(String.init)
            }

            /// The role of the owner.
            func owner() async throws -> String? {
                let status = try run("status")
                guard await status.end() == .exited(0), let line = status.lines.last else { return nil }
                return try JSONDecoder().decode(Status.self, from: Data(line.utf8)).owner?.role
            }

            /// Stores a message that both machines can reach.
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
