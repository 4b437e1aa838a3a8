#if ZMQ
    internal import ArgumentParser
    internal import CoreAPI
    internal import Logging
    internal import Platform
    internal import ProgramOutput
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    /// `hub`: serves the group to clients over ZeroMQ.
    struct HubCommand: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "hub", abstract: "Serve the group over ZeroMQ until stopped.",
            discussion: HelpPage.text(
                """
                Clients start a hub by themselves unless “zmq.hub” is none. A second hub is refused with status 69. --detach \
                starts the hub in the background, with its log beside its socket, and returns when the hub answers. --stop \
                ends the running hub: status 1 when there is none. It cannot find a hub on memory that listens to a network: \
                end that hub where it was started.
                """, examples: ["sharedcore hub --detach", "sharedcore hub --stop"]))

        @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

        @Flag(help: "Run it in the background.")
        var detach = false

        @Flag(help: "End the hub that runs.")
        var stop = false

        @Option(help: .hidden)
        var reportTo: Int32?

        func validate() throws {
            if stop, detach { throw ValidationError("--stop and --detach exclude each other.") }
            if let reportTo, reportTo < 3 { throw ValidationError("--report-to takes a descriptor of one's own.") }
        }

        func run(in context: CommandContext) async throws {
            if stop {
                try await end(in: context)
            } else if detach {
                try await DetachedHub(context: context).start()
                StandardError.write(
                    "sharedcore: \(try Self.sentence(in: context, at: [context.resolution.hubEndpoint()]))")
            } else {
                try await serve(in: context)
            }
        }

        private func serve(in context: CommandContext) async throws {
            let report = HubReport(descriptor: reportTo)
            // Disable core dumps, which would contain the keys that the library has in memory.
            if case .tcp = try context.resolution.hubEndpoint() { OwnProcess.makeNoCoreDump() }
            let (failures, failed) = AsyncStream.makeStream(of: SharedCoreError.self)
            let hub: Hub
            do {
                hub = try await Self.start(in: context) { failed.yield($0) }
            } catch {
                report.failed("\(error)")
                throw error
            }
            report.listens()
            let sentence = try Self.sentence(in: context, at: hub.endpoints)
            if reportTo == nil {
                StandardError.write("sharedcore: \(sentence)")
            } else {
                context.logger.notice("\(sentence)")
            }
            // A hub that a client has started is not a service of the service manager, so it sends no notifications.
            let notifier = ServiceNotifier(
                environment: reportTo == nil ? context.resolution.environment : [:], process: OwnProcess.pid)
            notifier.ready(sentence)
            let failure = try await withThrowingTaskGroup(of: SharedCoreError?.self) { tasks in
                defer { tasks.cancelAll() }
                tasks.addTask {
                    try await Self.followList(for: hub, in: context)
                    return nil
                }
                tasks.addTask {
                    for await failure in failures { return failure }
                    return nil
                }
                return try await tasks.next() ?? nil
            }
            notifier.stopping()
            // In a task of its own, because this one is cancelled.
            await Task { await hub.stop() }.value
            await notifier.finish()
            if reportTo != nil { context.logger.notice("the hub has ended") }
            if let failure { throw CommandFailure(failure) }
        }

        /// Applies the list of clients' keys until this task is cancelled.
        private static func followList(for hub: Hub, in context: CommandContext) async throws {
            guard case .tcp = try context.resolution.hubEndpoint(),
                let path = try context.resolution.absolutePath(Settings.zmqClientKeys)
            else {
                // Nothing changes: wait until the task is cancelled.
                for await _ in AsyncStream(Never.self, { _ in }) {}
                return
            }
            let watch = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try ClientListWatch(of: path, logger: context.logger)
            }
            defer { watch.stop() }
            for await clients in watch.changes { try await hub.allow(clients) }
        }

        private static func start(
            in context: CommandContext, onFailure: @escaping @Sendable (SharedCoreError) -> Void
        ) async throws -> Hub {
            var options = try context.resolution.hubOptions()
            options.onFailure = onFailure
            options.onRefusal = { [logger = context.logger] error in logger.warning("\(error.sentence)") }
            do throws(SharedCoreError) {
                return try await Hub.start(options)
            } catch {
                let failure = CommandFailure(error)
                // An invalid endpoint or path comes from the configuration, so the status is not that of wrong usage.
                throw CommandFailure(failure.status == .usage ? .configuration : failure.status, failure.message)
            }
        }

        private static func sentence(in context: CommandContext, at endpoints: [HubEndpoint]) throws -> String {
            "the hub of the group “\(try context.resolution.value(Settings.group))” listens at "
                + endpoints.map(\.description).joined(separator: " and ")
        }

        private func end(in context: CommandContext) async throws {
            let endpoint = try context.resolution.hubEndpoint()
            let directory = try context.resolution.groupDirectory()
            guard let process = try await HubEnding.stop(at: endpoint, ofGroup: directory) else {
                throw CommandFailure(.no, "no hub serves at \(endpoint)")
            }
            try await context.output.confirm(
                text: "The hub (pid \(process.pid)) has ended.",
                json: ["event": "stopped", "pid": .integer(Int64(process.pid))])
        }
    }
#endif
