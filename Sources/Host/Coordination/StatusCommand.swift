internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `status`: shows the sessions and the owner.
struct StatusCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print the sessions, the owner of the core, the host and its pushes.",
        discussion: HelpPage.text(
            """
            With --watch it continues until SIGINT or SIGTERM. On a terminal it updates the screen, in colours unless \
            NO_COLOR is set. Elsewhere it prints a report for each change, with an empty line between two, or with --json \
            one object a line.
            """, examples: ["sharedcore status", "sharedcore status --json", "sharedcore status --watch"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Flag(help: "Continue with each change, until stopped.")
    var watch = false

    func run() async throws {
        // These signals end a process too. Without a handler they would leave the terminal on the alternate screen.
        let hasScreen = watch && StatusWatch.hasScreen(json: global.json)
        try await CommandFrame(global: global).run(
            until: [.interrupt, .terminate] + (hasScreen ? [.hangUp, .quit] : [])
        ) { try await run(in: $0) }
    }

    func run(in context: CommandContext) async throws {
        if watch {
            let reports = GroupReports(context, for: "status")
            return try await reports.closing { try await StatusWatch(reports, in: context).run() }
        }
        try await context.withReader(for: "status") { group in
            let overview = try await StatusOverview(of: group, in: context)
            try await context.output.emit(lines: overview.lines, json: overview.json)
        }
    }
}

/// The sessions of a group and the owner of its core, at one revision.
struct StatusOverview: Sendable {
    let backend: String
    let group: String
    /// How a participant of this user learns of commits here; nil if only a trial with a write could show it.
    let wakeUp: WakeUpMethod?
    /// The hub on this machine that serves the group; nil with another backend, and if none is found here.
    let hub: ServingHub?
    let owner: GroupOwner?
    /// True while the owner's process is stopped by a signal or a debugger; nil if it cannot be seen.
    let ownerIsStopped: Bool?
    /// The Main that has asked for the core.
    let request: PendingHandover?
    /// The Main that rests and for which the owner's process owns.
    let resting: RestingMain?
    let activities: [Activity]
    let calls: [Call]
    let host: HostOverview
    let supervision: SupervisionOverview
    let life: LifeOverview
    let sessions: [Session]
    let revision: Revision
    let usage: StoreUsage?
    let clock: WallTime

    init(of group: any SharedGroup, in context: CommandContext) async throws {
        let resolution = context.resolution
        backend = try resolution.value(Settings.backend)
        self.group = try resolution.value(Settings.group)
        wakeUp = try context.wakeUpOfParticipants
        hub = try context.servingHub()
        owner = try await GroupOwner.current(in: group)
        ownerIsStopped = owner?.process.isStopped
        request = try await PendingHandover.current(in: group)
        resting = try await RestingMain.current(in: group)
        activities = try await Activity.current(in: group)
        calls = try await Calls(group).list()
        host = try await HostOverview(of: group)
        supervision = await SupervisionOverview(at: try resolution.runtimeDirectory())
        life = try await LifeOverview(of: group, levels: try resolution.serviceLevels())
        // Read the sessions and then the revision last, so that all the rest is of this revision or an earlier one.
        sessions = try await group.sessions()
        revision = try await group.list(KeyPrefix(stringLiteral: ".sharedcore/ownership")).revision
        usage = try await group.usage()
        clock = WallTime()
    }

    /// `backend group wakeUp hub{endpoint,pid} revision store{keys,bytes,names,nameBytes} owner{role,state,epoch,pid,processStopped,since}
    /// rest{session,name,pid,holder,wake} asked{session,name,pid,takesOver,insists,since} activities[] calls{open,moving,ended}
    /// sessions[]
    /// host{...} pushes{...} main{...} applications[] serviceLevels{...} keepAlives[]`.
    var json: JSONObject {
        [
            "backend": .text(backend), "group": .text(group), "wakeUp": .optional(wakeUp?.word),
            "hub": hub.map { .object($0.json) } ?? .null,
            "revision": .natural(revision.rawValue), "store": usage.map { .object(json(of: $0)) } ?? .null,
            "owner": owner.map { .object(json(of: $0)) } ?? .null,
            "rest": resting.map { .object(json(of: $0)) } ?? .null,
            "asked": request.map { .object(json(of: $0)) } ?? .null,
            "activities": .array(activities.map { .object(json(of: $0)) }),
            "calls": .object([
                "open": .integer(Int64(openCallCount)), "moving": .integer(Int64(movingCallCount)),
                "ended": .integer(Int64(endedCallCount)),
            ]),
            "sessions": .array(sessions.map { .object(json(of: $0)) }),
            "host": host.json, "pushes": .object(host.pushes),
            "main": supervision.json, "applications": life.applicationsJSON, "serviceLevels": life.levelsJSON,
            "keepAlives": life.keepAlivesJSON,
        ]
    }

    private var openCallCount: Int { calls.count(where: \.isOpen) }
    /// The number of open calls that are between two cores.
    private var movingCallCount: Int { calls.count(where: \.isMoving) }
    private var endedCallCount: Int { calls.count - openCallCount }

    private func json(of owner: GroupOwner) -> JSONObject {
        [
            "role": .text(owner.role.rawValue), "state": .text(owner.state.description),
            "epoch": .natural(owner.epoch.rawValue), "pid": .integer(Int64(owner.process.pid)),
            "processStopped": ownerIsStopped.map { .flag($0) } ?? .null,
            "since": .optional(clock.text(of: owner.since, in: owner.process.bootID)),
        ]
    }

    private func json(of request: PendingHandover) -> JSONObject {
        [
            "session": .text(request.session.description), "name": .text(request.name),
            "pid": .integer(Int64(request.process.pid)), "takesOver": .flag(request.takesOver),
            "insists": .flag(request.insists),
            "since": .optional(clock.text(of: request.askedAt, in: request.process.bootID)),
        ]
    }

    private func json(of resting: RestingMain) -> JSONObject {
        [
            "session": .text(resting.session.description), "name": .text(resting.name),
            "pid": .integer(Int64(resting.process.pid)), "holder": .integer(Int64(resting.holder.pid)),
            "wake": .optional(resting.wake?.description),
        ]
    }

    private func json(of activity: Activity) -> JSONObject {
        let bootID = owner?.process.bootID
        func text(_ instant: BootInstant?) -> JSONValue {
            .optional(instant.flatMap { instant in bootID.flatMap { clock.text(of: instant, in: $0) } })
        }
        return [
            "kind": .text(activity.kind.name), "id": .text(activity.id), "begun": text(activity.begun),
            "expectedEnd": text(activity.expectedEnd), "latestEnd": text(activity.latestEnd),
        ]
    }

    private func json(of usage: StoreUsage) -> JSONObject {
        [
            "keys": .integer(Int64(usage.entryCount)), "bytes": .integer(Int64(usage.byteCount)),
            "names": .integer(Int64(usage.nameCount)), "nameBytes": .integer(Int64(usage.nameByteCount)),
        ]
    }

    private func json(of session: Session) -> JSONObject {
        [
            "id": .text(session.id.description), "role": .text(session.role.rawValue), "name": .text(session.name),
            "pid": .integer(Int64(session.process.pid)),
            "since": .optional(clock.text(of: session.openedAt, in: session.process.bootID)),
        ]
    }

    /// The overview for people.
    var lines: [String] {
        let holder =
            owner.map { owner in
                "\(owner.role) “\(owner.name)”, \(owner.state)"
                    + (ownerIsStopped == true ? " (its process is stopped)" : "")
                    + ", pid \(owner.process.pid), epoch \(owner.epoch), for \(clock.age(of: owner.since))"
            } ?? "none"
        let store = usage.map { usage in
            "store     \(usage.entryCount.counting("key")) (\(usage.byteCount.counting("byte"))), "
                + "\(usage.nameCount.counting("notification name")) (\(usage.nameByteCount.counting("byte")))"
        }
        let lines =
            [
                "backend   \(backend)", "group     \(group)",
                "woken     \(wakeUp?.sentence ?? "in a way that only a participant finds out here")",
                "revision  \(revision)",
            ]
            + [hub.map { "hub       \($0.sentence)" }, store].compactMap(\.self) + ["owner     \(holder)"]
            + [resting.map { line(of: $0) }, request.map { line(of: $0) }].compactMap(\.self)
            + activities.map { line(of: $0) }
            + (calls.isEmpty ? [] : [callLine])
            + ["sessions  \(sessions.count)"]
        return lines + sessions.map { line(of: $0) } + host.lines + supervision.lines + life.lines(sessions: sessions)
    }

    private var callLine: String {
        let moving = movingCallCount == 0 ? "" : " (\(movingCallCount) moving to another core)"
        return "calls     \(openCallCount) open\(moving), \(endedCallCount) ended"
    }

    private func line(of request: PendingHandover) -> String {
        "asked     main “\(request.name)”, pid \(request.process.pid), for \(clock.age(of: request.askedAt))"
            + (request.takesOver ? ", takes over" : "") + (request.insists ? ", insists" : "")
    }

    private func line(of resting: RestingMain) -> String {
        "rests     main “\(resting.name)”, pid \(resting.process.pid); pid \(resting.holder.pid) owns for it"
            + (resting.wake.map { ", and has woken it (\($0))" } ?? "")
    }

    private func line(of activity: Activity) -> String {
        let left = clock.left(until: activity.latestEnd)
        return "busy      \(activity.describe()), for \(clock.age(of: activity.begun)), "
            + (left.map { "at most \($0) more" } ?? "past its bound")
    }

    private func line(of session: Session) -> String {
        "  \(session.id)  \(session.role)  pid \(session.process.pid)  for \(clock.age(of: session.openedAt))  "
            + session.name
    }
}
