internal import CommandCore
internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import KeptSockets
internal import Lifecycle
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import UnixSignals

/// One run of the host, from its claim of the group to its end.
struct HostRun: Sendable {
    private let host: PushHost
    private let publication: HostPublication
    private let notifier: ServiceNotifier
    private let report: HostReport
    private let reload: HostReload
    private let logger: Logger
    private let maildir: PushMaildir?
    private let mainPushes: MainPushExpiry
    private let servers: [RequestServer]
    private let supervisor: MainSupervisor?
    /// Owns in place of a Main that rests. Nil if sessions have leases, since no holder is possible then.
    private let holder: HolderParticipant?
    /// The keeper of duplicates of the owners' batons; nil if it could not start.
    private let batons: BatonHost?
    private let page: PageNotice?
    private let group: any SharedGroup
    private let stopping = StopSignal()

    /// Becomes the host of the group.
    init(
        _ group: any SharedGroup, settings: ExecutorSettings, cgroupLimit: CgroupLimit?, context: CommandContext,
        global: GlobalOptions
    ) async throws {
        self.group = group
        let process = ProcessIdentity.current.pid
        page = try? PageNotice(at: context.resolution.pageSocket())
        notifier = ServiceNotifier(environment: context.resolution.environment, process: process)
        let report = HostReport(to: context.output)
        self.report = report
        let claim = try await HostClaim(
            of: group, with: HostRecord(pid: process, settings: settings, isCaged: cgroupLimit != nil))
        let left = await SerialThread(name: "leftovers").run { ExecutorLeftovers.end() }
        if left.count > 0 {
            let processes = left.count.counting("process", "processes")
            context.logger.notice("ended: \(processes) that Executors of a killed host had left running")
        }
        if !left.isComplete {
            context.logger.warning("some processes that Executors of a killed host had left running do not end")
        }
        let memoryProblem = settings.memoryProblem(isResident: group.residentValueByteCount == nil)
        for problem in [memoryProblem, settings.launch.programProblem].compactMap(\.self) {
            context.logger.warning("\(problem)")
        }
        let queue = try context.resolution.pushQueue(of: group)
        mainPushes = MainPushExpiry(
            queue.forMain, lifetime: try context.resolution.value(Settings.inboxLifetime), logger: context.logger)
        let changes = ChangeSignal()
        let registry = PrometheusRegistry()
        let figures = HostFigures(registry)
        let alerts = try PushAlerts(of: group, for: context)
        let holder =
            group.lease == nil
            ? try HolderParticipant(
                of: group, options: try context.resolution.coordinationOptions(),
                woken: Self.tellKeeper(in: context)) : nil
        self.holder = holder
        batons = Self.batons(of: group, logger: context.logger)
        host = PushHost(
            queue, settings: settings, cgroupLimit: cgroupLimit, logger: context.logger,
            show: { await alerts?.tell(of: $0) },
            wakeMain: { await holder?.wakeMain(for: .push) }
        ) { event in
            figures.count(event)
            report.print(event)
            changes.signal()
        }
        supervisor = try MainSupervisor(for: context)
        publication = HostPublication(
            of: host, as: process, claim: claim, queue: queue, notifier: notifier, figures: figures,
            supervision: supervisor.map { .init($0.client, SupervisionFigures(registry)) }, changes: changes,
            beside: { [page] in page?.look(report) }, logger: context.logger)
        reload = HostReload(
            host: host, context: context, global: global, notifier: notifier, changes: changes,
            signals: await UnixSignalsSequence(trapping: .sighup), supervisor: supervisor)
        logger = context.logger
        let coreMaildir = try context.resolution.maildirOfCores()
        if let unread = try context.resolution.unreadMaildir(), let coreMaildir {
            context.logger.warning(
                "core.maildir is not set: the cores take messages from \(coreMaildir), not from push.maildir, \(unread)"
            )
        }
        maildir = try context.resolution.absolutePath(Settings.pushMaildir).map { [stopping, host] path in
            try PushMaildir(
                path, queue, inbox: Inbox(group), of: coreMaildir, logger: context.logger, stopping: stopping,
                memory: { await host.executorMemory })
        }
        servers = [try Self.socket(for: queue, in: context), try Self.metrics(of: registry, in: context)]
            .compactMap(\.self)
    }

    /// Tells the keeper when its resting Main is woken, so that the keeper's budget and watchdog apply.
    private static func tellKeeper(
        in context: CommandContext
    ) -> (@Sendable (ProcessIdentity) async -> Void)? {
        // A group without a directory for sockets has no keeper.
        guard let place = try? context.resolution.keeperPlace() else { return nil }
        let keeper = KeeperClient(place: place)
        return { main in
            // The call blocks, so it has its own thread. Its failure is ignored: a Main without a keeper has no
            // watchdog.
            _ = await SerialThread(name: "keeper").run { keeper.mainWasWoken(main) }
        }
    }

    /// Starts to keep batons. If the host cannot listen, it serves without: only the old owner then keeps its baton.
    private static func batons(of group: any SharedGroup, logger: Logger) -> BatonHost? {
        do throws(SharedCoreError) {
            return try BatonHost(of: group, clock: SystemClock())
        } catch {
            logger.warning("the host keeps no batons: \(error.sentence)")
            return nil
        }
    }

    /// Begins to listen; only a host that has claimed the group does.
    private static func socket(for queue: PushQueue, in context: CommandContext) throws -> RequestServer? {
        let resolution = context.resolution
        guard let path = try resolution.pushSocket() else { return nil }
        if resolution.find(Settings.pushSocket.erased) == nil { try resolution.makeRuntimeDirectory() }
        let place = try settled(path, by: Settings.pushSocket.erased, in: resolution)
        return try listening(by: Settings.pushSocket.erased, in: resolution) { () throws(SystemCallError) in
            try PushSocket.start(at: place, queue)
        }
    }

    private static func metrics(of registry: PrometheusRegistry, in context: CommandContext) throws -> RequestServer? {
        let resolution = context.resolution
        guard var place = try resolution.metricsPlace() else { return nil }
        let isStandard = resolution.find(Settings.metricsListen.erased) == nil
        do {
            if isStandard { try resolution.makeRuntimeDirectory() }
            if case .path(let path) = place {
                place = .path(try settled(path, by: Settings.metricsListen.erased, in: resolution))
            }
            return try listening(by: Settings.metricsListen.erased, in: resolution) {
                [place] () throws(SystemCallError) in
                try MetricsServer.start(at: place, registry)
            }
        } catch {
            // If the address is only the default, the host serves without metrics.
            guard isStandard else { throw error }
            context.logger.warning("the host serves without metrics: \(error)")
            return nil
        }
    }

    /// Returns the path of a socket without symbolic links. A link of another user on the path counts as an error of
    /// the configuration.
    private static func settled(
        _ path: String, by setting: AnySetting, in resolution: Resolution
    ) throws(CommandFailure) -> String {
        let (directory, name) = Directory.parts(of: path)
        do throws(SharedCoreError) {
            return try PrivateDirectory.settle(directory).path(of: name)
        } catch {
            let place = resolution.find(setting)?.origin.description ?? "default"
            throw CommandFailure(.configuration, "\(place): \(setting.name): \(error.sentence)")
        }
    }

    /// Begins to listen. An address at which no process could listen is an error of the configuration; an address that
    /// another process uses is not.
    private static func listening(
        by setting: AnySetting, in resolution: Resolution, _ listen: () throws(SystemCallError) -> RequestServer
    ) throws(CommandFailure) -> RequestServer {
        let place = resolution.find(setting)?.origin.description ?? "default"
        do throws(SystemCallError) {
            return try listen()
        } catch {
            throw CommandFailure(
                error.isAddressTaken ? .unavailable : .configuration,
                "\(place): \(setting.name): the host cannot listen at \(error.location): \(error.sentence)")
        }
    }

    /// Serves until it is told to stop.
    func serve() async throws {
        report.print("The host serves.", ["event": "serving", "pid": .integer(Int64(ProcessIdentity.current.pid))])
        try supervisor?.begin()
        try await holder?.start()
        try await batons?.start()
        await setPause(try await HostPause.current(in: group))
        notifier.ready()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await publication.run() }
                group.addTask { await reload.run() }
                group.addTask { await keepAlive() }
                group.addTask { await maildir?.run() }
                group.addTask { await followActivities() }
                group.addTask { await followPause() }
                group.addTask { await mainPushes.run() }
                group.addTask { await followKeepAlives() }
                do {
                    try await host.run(isWaiting: maildir?.isWaiting)
                } catch {
                    stopping.raise()
                    group.cancelAll()
                    throw error
                }
                stopping.raise()
                group.cancelAll()
            }
        } catch {
            await holder?.stop()
            batons?.stop()
            await report.finish()
            throw error
        }
        await holder?.stop()
        batons?.stop()
        report.print("The host has stopped.", ["event": "stopped"])
        await report.finish()
        await notifier.finish()
    }

    /// Stops in order: no push is taken any more, and the Executors are told to end.
    func stop() {
        notifier.stopping()
        stopping.raise()
        supervisor?.end()
        for server in servers { server.stop() }
        host.stop()
    }

    private func setPause(_ pause: HostPause?) async {
        guard await host.setPaused(pause != nil) else { return }
        if let pause {
            report.print(
                "The host is \(pause.sentence): pushes wait until “sharedcore push --resume”.",
                ["event": "paused", "user": pause.user.map { .natural(UInt64($0)) } ?? .null])
        } else {
            report.print("The host continues.", ["event": "resumed"])
        }
        reload.changes.signal()
    }

    /// Pauses and resumes the start of Executors, as the entry of the group says.
    private func followPause() async {
        do throws(SharedCoreError) {
            let watch = try await group.watch([HostPause.prefix], from: .snapshot)
            while !Task.isCancelled, try await watch.next() != nil {
                await setPause(try await HostPause.current(in: group))
            }
            watch.cancel()
        } catch {
            guard !stopping.isRaised, error.code != .cancelled else { return }
            // This happens with files only, because the loss of a hub ends no watch.
            if error.code == .unavailable, await group.isLost() { return await host.end(because: error) }
            logger.warning("a pause of the host is not seen any more: \(error.sentence)")
        }
    }

    /// Reports the activities of the core's owner to the host.
    private func followActivities() async {
        do throws(SharedCoreError) {
            let watch = try await group.watch([OwnershipKey.path], from: .snapshot)
            var view = OwnershipView()
            // The processes of the owner and of the giver of a baton.
            var owners: [Revision: ProcessIdentity] = [:]
            while !Task.isCancelled, let event = try await watch.next() {
                let now = SystemClock().now()
                view.apply(event, at: now)
                batons?.see(view)
                let activities = view.owner.flatMap { view.activities(of: $0.claim) }?.activities ?? []
                if let owner = view.owner { owners[owner.claim] = owner.record.process }
                let baton = view.baton?.record
                let giver = baton.flatMap { baton in
                    owners[baton.epoch].map {
                        // Any participant can have written the deadline, so limit it.
                        let latest = now.advanced(by: Baton.lifetimes.upperBound)
                        return BusyOwner.Giver(process: $0, deadline: min(baton.deadline, latest))
                    }
                }
                owners = owners.filter { $0.key == view.owner?.claim || $0.key == baton?.epoch }
                await host.note(activities, of: view.owner?.record.process, giver: giver)
            }
            watch.cancel()
        } catch {
            guard !stopping.isRaised, error.code != .cancelled else { return }
            // This happens with files only, because the loss of a hub ends no watch.
            if error.code == .unavailable, await group.isLost() { return await host.end(because: error) }
            logger.warning(
                "the owner's activities are not seen any more, so Executors that are busy have only their budget: \(error.sentence)"
            )
        }
    }

    /// Tells the holder when the next keep-alive is due, so that it wakes a resting Main for it.
    private func followKeepAlives() async {
        guard let holder else { return }
        do throws(SharedCoreError) {
            try await KeepAliveRecords(group).followDueTime(by: SystemClock()) { await holder.setKeepAlive(at: $0) }
        } catch {
            guard !stopping.isRaised, error.code != .cancelled else { return }
            logger.warning("keep-alives are not seen any more, so no Main is woken for them: \(error.sentence)")
        }
    }

    /// Reports to the service manager that the host is alive. The report is made on the host's actor, so it proves that
    /// the actor is not blocked.
    private func keepAlive() async {
        guard let interval = notifier.watchdogInterval else { return }
        while !Task.isCancelled {
            _ = await host.record(pid: 0)
            notifier.alive()
            try? await Task.sleep(for: interval)
        }
    }
}
