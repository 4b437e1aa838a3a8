#if ZMQ
    internal import CoreAPI
    internal import FileNotifyBackend
    internal import Platform
    internal import ProgramOutput
    internal import ZMQBackend

    /// A hub that is started in the background: a daemon in a session of its own, with its standard error in a log.
    struct DetachedHub: Sendable {
        let context: CommandContext

        /// How long a hub may take to listen.
        private static let patience = Duration.seconds(30)
        /// What a log may have grown to when a hub starts.
        private static let logByteCount = 1 << 20
        private static let reportByteCount = 4 << 10

        /// Starts it, and returns when it listens.
        func start() async throws {
            let log = try self.log()
            let variables = try context.resolution.hubVariables()
            let own = try OwnProgram.path
            let failure = try await Abandonable.run(on: SerialThread(name: "hub-start"), grace: .zero) {
                try Self.start(own, variables, log: log, patience: Self.patience)
            }
            if let failure { throw failure }
        }

        /// Where the hub writes what it has to say: beside its socket, else in the group's directory.
        private func log() throws -> OpenFile {
            let resolution = context.resolution
            var path = try resolution.groupDirectory() + "/hub"
            if case .ipc(let socket) = try resolution.hubEndpoint() { path = socket }
            let parts = path.split(separator: "/")
            let directory = try PrivateDirectory.open("/" + parts.dropLast().joined(separator: "/"))
            let file = try OpenFile((parts.last ?? "hub") + ".log", in: directory, .create)
            if try file.status().byteCount > Self.logByteCount { try file.truncate(to: 0) }
            try file.appendOnly()
            return file
        }

        /// Starts a hub, and kills one that has not told in time whether it listens.
        ///
        /// - Parameter patience: The time until then.
        /// - Returns: Why there is no hub; nil when it listens.
        static func start(
            _ program: String, _ variables: [String: String], log: OpenFile, patience: Duration
        ) throws -> CommandFailure? {
            let (hub, report) = try begin(program, variables, log: log)
            let handle = try hub.handle()
            let deadline = ContinuousClock.now.advanced(by: patience)
            let said = handle.output(report, keeping: reportByteCount, until: deadline)
            let message = String(decoding: said ?? [], as: UTF8.self)
                .split(whereSeparator: \.isNewline).joined(separator: " ")
            if said != nil, message == HubReport.listening { return nil }
            // One that has said why it cannot listen is about to end. One that has said nothing could not be stopped later: it
            // has no lock yet that names it.
            let status = try hub.waitForEnd(handle, until: deadline)
            let sentence =
                status.map { "the hub ended with status \($0)" }
                ?? "the hub (pid \(hub.pid)) did not listen within \(patience.components.seconds) s and was killed"
            return CommandFailure(
                status.flatMap { ExitStatus(rawValue: $0) } ?? .unavailable,
                said == nil || message.isEmpty ? "\(sentence); its log is \(log.path)" : message)
        }

        /// Starts the program.
        private static func begin(
            _ program: String, _ variables: [String: String], log: OpenFile
        ) throws -> (StartedProgram, OpenFile) {
            let pipe = try Pipe()
            let nothing = try OpenFile(path: "/dev/null", .write)
            let hub = try StartedProgram(
                program, ["hub", "--report-to", "3"], variables: variables,
                streams: [nothing, nothing, log, pipe.input],
                ownSession: true)
            return (hub, pipe.output)
        }
    }
#endif
