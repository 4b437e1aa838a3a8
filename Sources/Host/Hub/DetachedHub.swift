#if ZMQ
    internal import CommandCore
    internal import CoreAPI
    internal import FileNotifyBackend
    internal import Platform
    internal import ProgramOutput
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    /// A hub that runs in the background, in a session of its own, with its standard error in a log file. It is a
    /// daemon, or ends with this process.
    struct DetachedHub: Sendable {
        let context: CommandContext

        /// The time limit until a hub listens.
        private static let timeout = Duration.seconds(30)
        /// The size in bytes above which the log is emptied when a hub starts.
        private static let logByteCount = 1 << 20
        private static let reportByteCount = 4 << 10

        /// Starts a daemon, and returns when it listens.
        func start() async throws {
            let log = try self.log()
            let variables = try context.resolution.hubVariables()
            let own = try OwnProgram.path
            let failure = try await Abandonable.run(on: SerialThread(name: "hub-start"), grace: .zero) {
                try Self.start(own, variables, log: log, timeout: Self.timeout)
            }
            if let failure { throw failure }
        }

        /// Starts a hub that the kernel kills with this process, and returns when it listens.
        func startTied() async throws {
            let log = try self.log()
            let variables = try context.resolution.hubVariables()
            let own = try OwnProgram.path
            // The kernel kills a child with the thread that started it: this one lives as long as the hub.
            let begun = try await Abandonable.run(on: SerialThread(name: "hub-start"), grace: .zero) {
                try OwnedThread.start("hub") { () throws(SystemCallError) in
                    Result { try Self.begin(own, variables, log: log, timeout: Self.timeout, endsWithThread: true) }
                } then: { begun in
                    if case .success(.listening(let hub)) = begun { _ = try? hub.waitForEnd() }
                }
            }
            if case .failed(let failure) = try begun.get() { throw failure }
        }

        /// Opens the hub's log: beside its socket, else in the group's directory.
        private func log() throws -> OpenFile {
            let resolution = context.resolution
            var path = try resolution.groupDirectory() + "/hub"
            if case .ipc(let socket) = try resolution.hubEndpoint() { path = socket }
            let parts = Directory.parts(of: path)
            let directory = try PrivateDirectory.open(parts.directory)
            let file = try OpenFile(parts.name + ".log", in: directory, .create)
            if try file.status().byteCount > Self.logByteCount { try file.truncate(to: 0) }
            try file.appendOnly()
            return file
        }

        /// Starts a hub, and kills it if it has not reported in time that it listens.
        ///
        /// - Parameter timeout: The time until then.
        /// - Returns: Why no hub was started; nil if it listens.
        static func start(
            _ program: String, _ variables: [String: String], log: OpenFile, timeout: Duration
        ) throws -> CommandFailure? {
            switch try begin(program, variables, log: log, timeout: timeout, endsWithThread: false) {
            case .listening: nil
            case .failed(let failure): failure
            }
        }

        /// The outcome of starting a hub.
        private enum Beginning: Sendable {
            case listening(StartedProgram)
            case failed(CommandFailure)
        }

        private static func begin(
            _ program: String, _ variables: [String: String], log: OpenFile, timeout: Duration, endsWithThread: Bool
        ) throws -> Beginning {
            let (hub, report) = try begin(program, variables, log: log, endsWithThread: endsWithThread)
            let deadline = ContinuousClock.now.advanced(by: timeout)
            let said = hub.handle.output(report, keeping: reportByteCount, until: deadline)
            let message = String(decoding: said ?? [], as: UTF8.self)
                .split(whereSeparator: \.isNewline).joined(separator: " ")
            if said != nil, message == HubReport.listening { return .listening(hub) }
            // A hub that has reported why it cannot listen is about to end. A hub that has reported nothing may hang,
            // and is killed now: without its lock, no other process could find it later.
            let status = try hub.waitForEnd(until: deadline)
            let sentence =
                status.map { $0 == StartedProgram.unknownStatus ? "the hub ended" : "the hub ended with status \($0)" }
                ?? "the hub (pid \(hub.pid)) did not listen within \(timeout.components.seconds) s and was killed"
            return .failed(
                CommandFailure(
                    status.flatMap { ExitStatus(rawValue: $0) } ?? .unavailable,
                    said == nil || message.isEmpty ? "\(sentence); its log is \(log.path)" : message))
        }

        /// Starts the program.
        private static func begin(
            _ program: String, _ variables: [String: String], log: OpenFile, endsWithThread: Bool
        ) throws -> (StartedProgram, OpenFile) {
            let pipe = try Pipe()
            let nothing = try OpenFile(path: "/dev/null", .write)
            let hub = try StartedProgram(
                program, ["hub", "--report-to", "3"], variables: variables,
                streams: [nothing, nothing, log, pipe.input],
                ownSession: true, endsWithThread: endsWithThread,
                // If the program of a core starts the hub, remove the core's marks from its environment. The hub must
                // not be ended together with the core, because other processes use it.
                omitting: Set(LaunchMark.Role.allCases.map(\.variable)))
            return (hub, pipe.output)
        }
    }
#endif
