internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The pushes that wait or are in hand, each with its age and the reason why it waits, as `push --list` and the page show
/// them.
struct PushOverview: Sendable {
    /// Why a push is not being handled.
    enum Wait: Hashable, Sendable {
        /// No host serves the group.
        case host
        /// The host is paused.
        case pause
        /// The push waits for a free slot: the host runs as many Executors as it may, or is about to start this one.
        case executor
        /// An Executor has failed for the push, and the next one starts at this instant.
        case retry(BootInstant)
        /// No Main has taken it.
        case main

        /// The reason as scripts read it.
        var word: String {
            switch self {
            case .host: "host"
            case .pause: "pause"
            case .executor: "executor"
            case .retry: "retry"
            case .main: "main"
            }
        }
    }

    /// A push.
    struct Row: Sendable {
        /// Nil when it cannot be read here.
        let push: Push?
        let route: PushRoutes.Route
        let isTaken: Bool
        /// When the push came; nil if that is not known, for example after a restart of the machine.
        let since: BootInstant?
        /// How many Executors have failed for it, and how the last one ended.
        var failures = 0
        var lastFailure: String?
        /// Nil while it is being handled.
        let wait: Wait?
        /// The process of its Executor.
        let process: Int32?
        /// The session that has it in hand.
        let holder: SessionID?
    }

    /// The pushes in hand, then those that wait, then those for Main, each the oldest first.
    let rows: [Row]
    /// True if there are more than were asked for.
    let isCut: Bool
    private let clock: WallTime
    private let bootID: BootID

    /// Reads the pushes of a queue.
    ///
    /// - Parameter limit: The most rows.
    init(
        of queue: PushQueue, host: HostOverview, limit: Int = .max, clock: any TimeSource = SystemClock()
    ) async throws(SharedCoreError) {
        self.clock = WallTime()
        let (now, bootID) = (clock.now(), clock.bootID)
        self.bootID = bootID
        let pending = try await queue.pending.contents()
        let forMain = try await queue.forMain.list(limit: limit)
        let (taken, waiting) = (pending.taken, pending.waiting)
        var hosts = HostState(of: host, in: bootID)
        var rows: [Row] = []
        for (item, message) in taken.prefix(limit) {
            rows.append(
                Self.row(of: message, holder: pending.items[item]?.take?.origin, &hosts, in: bootID))
        }
        for (_, message) in waiting.prefix(limit - rows.count) {
            rows.append(Self.row(of: message, holder: nil, &hosts, in: bootID))
        }
        for push in forMain.pushes.prefix(limit - rows.count) {
            // The record has only the end of the push's time. Compute from it when the push came, by the present
            // lifetime.
            let since = push.end.flatMap { queue.start(ofPushUntil: $0, at: now) }
            rows.append(
                Row(
                    push: push.push, route: .main, isTaken: push.holder != nil, since: since,
                    wait: push.holder == nil ? .main : nil, process: nil, holder: push.holder))
        }
        self.rows = rows
        isCut = taken.count + waiting.count + forMain.count > rows.count
    }

    private static func row(
        of message: Entry, holder: SessionID?, _ hosts: inout HostState, in bootID: BootID
    ) -> Row {
        let record = PushRecord(message.value)
        let (wait, process) = hosts.next(record?.callID, isTaken: holder != nil)
        return Row(
            push: record?.push, route: .executor, isTaken: holder != nil,
            since: record.flatMap {
                $0.bootID == bootID.description ? BootInstant(nanoseconds: $0.receivedAt) : nil
            },
            failures: record?.failures ?? 0, lastFailure: record?.lastFailure, wait: wait, process: process,
            holder: holder)
    }

    /// The Executors and retries in the host's record. Each is assigned to one push of the list.
    private struct HostState {
        private let isPresent: Bool
        private let isPaused: Bool
        private var executors: [String: [Int32]]
        private var retries: [String: [BootInstant]]

        init(of host: HostOverview, in bootID: BootID) {
            isPresent = host.record != nil
            isPaused = host.pause != nil
            executors = Dictionary(grouping: host.record?.executors ?? [], by: \.callID).mapValues { $0.map(\.pid) }
            let retries = (host.record?.retries ?? []).filter { $0.bootID == bootID.description }
            self.retries = Dictionary(grouping: retries, by: \.callID).mapValues {
                $0.map { BootInstant(nanoseconds: $0.at) }
            }
        }

        /// Returns why a push waits, or the process of its Executor.
        mutating func next(_ callID: String?, isTaken: Bool) -> (Wait?, Int32?) {
            if isTaken, let callID {
                if let process = Self.removeFirst(of: callID, in: &executors) { return (nil, process) }
                if let instant = Self.removeFirst(of: callID, in: &retries) { return (.retry(instant), nil) }
            }
            return (isPaused ? .pause : isPresent ? .executor : .host, nil)
        }

        private static func removeFirst<Value>(of callID: String, in values: inout [String: [Value]]) -> Value? {
            guard values[callID]?.isEmpty == false else { return nil }
            return values[callID]?.removeFirst()
        }
    }

    /// Returns a row as JSON: `event callID type account route since failures reason waitsFor retryAt pid session`.
    func json(of row: Row) -> JSONObject {
        var retryAt: JSONValue = .null
        if case .retry(let instant)? = row.wait { retryAt = .optional(clock.text(of: instant, in: bootID)) }
        return [
            "event": .text(row.isTaken ? "taken" : "waiting"), "callID": .optional(row.push?.callID.text),
            "type": .optional(row.push?.type), "account": .optional(row.push?.account),
            "route": .text(row.route.rawValue),
            "since": .optional(row.since.flatMap { clock.text(of: $0, in: bootID) }),
            "failures": .integer(Int64(row.failures)), "reason": .text(row.lastFailure ?? ""),
            "waitsFor": .optional(row.wait?.word), "retryAt": retryAt,
            "pid": row.process.map { .integer(Int64($0)) } ?? .null,
            "session": row.holder.map { .text($0.description) } ?? .null,
        ]
    }

    /// Returns the columns of a row for people: call-id, type, account, age, and the reason why the push waits.
    func columns(of row: Row) -> [String] {
        [
            row.push?.callID.text ?? "(cannot be read here)", row.push?.type ?? "", row.push?.account ?? "",
            row.since.map { clock.age(of: $0) } ?? "", sentence(of: row),
        ]
    }

    private func sentence(of row: Row) -> String {
        let state =
            switch row.wait {
            case .host: "waits: no host serves"
            case .pause: "waits: the host is paused"
            case .executor: "waits for its turn among the Executors"
            case .retry(let instant): "is tried again in \(clock.left(until: instant) ?? "0 s")"
            case .main: "waits for a Main"
            case nil: row.process.map { "pid \($0) handles it" } ?? "a Main has it in hand"
            }
        return row.failures == 0
            ? state : state + ", after \(row.failures.counting("failure")): \(row.lastFailure ?? "")"
    }
}
