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
                try Self.start(own, variables, log: log)
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

        private static func start(
            _ program: String, _ variables: [String: String], log: OpenFile
        ) throws -> CommandFailure? {
            let (hub, report) = try begin(program, variables, log: log)
            guard Poll.wait(for: [report.descriptor], timeout: patience)[0] else {
                // Nobody could stop it later: it has no lock yet that names it.
                hub.kill()
                _ = try hub.waitForEnd()
                return CommandFailure(.unavailable, "the hub did not listen in time; its log is \(log.path)")
            }
            let said = String(decoding: try report.readStream(keeping: reportByteCount), as: UTF8.self)
            let message = said.split(whereSeparator: \.isNewline).joined(separator: " ")
            guard message != HubReport.listening else { return nil }
            let status = try hub.waitForEnd()
            return CommandFailure(
                ExitStatus(rawValue: status) ?? .unavailable,
                message.isEmpty ? "the hub ended with status \(status); its log is \(log.path)" : message)
        }

        /// Starts the program. Its report ends when it closes it, or ends: nobody else has the other end.
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
