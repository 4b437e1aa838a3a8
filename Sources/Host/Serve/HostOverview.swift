internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The host of a group and its pushes, as `status` shows them.
struct HostOverview: Sendable {
    let record: HostRecord?
    private let count: PushQueue.Count
    let pause: HostPause?

    init(of group: any SharedStore) async throws(SharedCoreError) {
        // Listing the sessions ends the sessions of dead processes, and removes their records.
        _ = try await group.sessions()
        record = try await group.get(HostRecord.key).flatMap { HostRecord($0.value) }
        count = try await PushQueue(of: group).count()
        pause = try await HostPause.current(in: group)
    }

    /// `pid limit executors[]{callID,pid} retrying warningMs budgetMs memoryBytes memoryBy`; null if no host runs.
    var json: JSONValue {
        guard let record else { return .null }
        let executors = record.executors.map { executor -> JSONValue in
            .object(["callID": .text(executor.callID), "pid": .integer(Int64(executor.pid))])
        }
        return .object([
            "pid": .integer(Int64(record.pid)), "limit": .integer(Int64(record.limit)), "executors": .array(executors),
            "retrying": .integer(Int64(record.retrying)), "warningMs": .natural(record.warningMs),
            "budgetMs": .natural(record.budgetMs), "memoryBytes": record.memoryBytes.map { .natural($0) } ?? .null,
            "memoryBy": .optional(record.memoryBy),
        ])
    }

    /// `waiting taken givenUp forMain paused`.
    var pushes: JSONObject {
        [
            "waiting": .integer(Int64(count.waiting)), "taken": .integer(Int64(count.taken)),
            "givenUp": .integer(Int64(count.givenUp)), "forMain": .integer(Int64(count.forMain)),
            "paused": .flag(pause != nil),
        ]
    }

    /// The same for people.
    var lines: [String] {
        var lines: [String] = []
        if let record {
            lines.append(
                "host      pid \(record.pid), \(record.executors.count) of \(record.limit) Executors"
                    + (record.retrying > 0
                        ? ", \(record.retrying.counting("push", "pushes")) to be tried again" : ""))
            lines += record.executors.map { "  pid \($0.pid)  push “\($0.callID)”" }
            lines.append("budget    \(budget(of: record))")
        } else {
            lines.append("host      none")
        }
        if count != PushQueue.Count() || record != nil || pause != nil {
            lines.append(
                "pushes    \(count.waiting) waiting, \(count.taken) taken, \(count.givenUp) given up"
                    + (count.forMain > 0 ? ", \(count.forMain) for Main" : "")
                    + (pause.map { "; the host is \($0.sentence)" } ?? ""))
        }
        return lines
    }

    private func budget(of record: HostRecord) -> String {
        let times =
            "told after \(DurationText.write(.milliseconds(record.warningMs))), killed after "
            + DurationText.write(.milliseconds(record.budgetMs))
        guard let memory = record.memoryBytes else { return times }
        return times + ", or with more than \((memory + (1 << 20) - 1) >> 20) MiB (\(record.memoryBy ?? ""))"
    }
}
