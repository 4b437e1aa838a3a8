internal import Coordination
internal import CoreAPI
internal import Lifecycle
internal import Platform

func connect(_ telephone: any ConnectivityDelegate, log: @escaping @Sendable (String) -> Void) async {
    let runner = ConnectivityRunner(
        ConnectivityMachine(seed: .random(in: .min ... .max)), delegate: telephone, clock: SystemClock()
    ) { transition in log("\(transition)") }  // T2 foreground, disconnected → foreground, connected by …

    await runner.handle(.networkBack)  // reconnect, register, subscribe, presence, HTTP, report
    await runner.handle(.toBackground)  // the levels of the background
    print(ServiceLevelTable.standard.level(of: .httpServices, in: await runner.conditions))  // none
}

func replaceLevels() throws -> ServiceLevelTable {
    let table = ServiceLevelTable(replacing: [
        try ServiceLevelOverride(service: "presencePublish", application: "background", level: "none")
    ])
    return table
}

func media(by table: ServiceLevelTable, in conditions: ServiceConditions) -> Call.Media {
    let media: Call.Media = table.level(of: .activeCall, in: conditions) == .normal ? [.audio] : []
    return media
}

func stateApplication(in store: any SharedStore) async throws {
    let states = ApplicationStates(store)
    try await states.set(.background)
    if try await states.all().isAnyInForeground { return }  // no alert is needed
    for try await overview in try await states.watch() { print(overview) }
}

protocol Registrar: Sendable {
    func refresh(_ name: String) async throws
}

struct Refresher: KeepAliveHandler {
    let registrar: any Registrar

    func keepAlive(_ run: KeepAliveRun) async throws {
        for name in run.toRefresh { try await registrar.refresh(name) }
    }
}

func keepAlive(
    _ refresher: any KeepAliveHandler, restoring saved: KeepAliveRecord?, keep: @escaping @Sendable ([UInt8]) -> Void
) async throws {
    let keepAlive = try KeepAlive(restoring: saved, clock: SystemClock(), save: { record in keep(record.bytes) })
    try await keepAlive.add("registration", every: .seconds(600), handler: refresher)
    try await keepAlive.registered("sip:anna@example.org", for: .seconds(3600))
}

func keepAlive(in store: any SharedStore) async throws -> KeepAlive {
    let records = KeepAliveRecords(store)
    let keepAlive = try KeepAlive(
        restoring: await records.record(of: "main"), clock: SystemClock(), save: records.saving(as: "main"))
    return keepAlive
}

protocol Locks: Sendable {
    func release()
}

func carryOut(
    _ action: ConnectivityAction, for main: MainParticipant, releasing locks: any Locks,
    else telephone: any ConnectivityDelegate
) async throws -> ConnectivityActionResult {
    switch action {
    case .giveUpLocks: locks.release()
    case .rest:
        do throws(CoordinationError) { try await main.rest() } catch {
            // No holder, or a session with a lease: giveUpOwnership follows. After any other error the application stays awake.
            guard error.code == .unavailable || error.code == .unsupported else { throw error }
            return .ownership(.held)
        }
        return .ownership(.resting)
    case .giveUpOwnership: await main.stop()
    case .resume:
        do throws(CoordinationError) { try await main.resume() } catch {
            guard error.code == .fenced else { throw error }
            return .ownership(.lost)
        }
        return .ownership(.held)
    case .mayOwnAgain: try await main.start()
    default: return try await telephone.carryOut(action)
    }
    return .done
}
