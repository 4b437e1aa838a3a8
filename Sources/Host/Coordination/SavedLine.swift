internal import Coordination
internal import CoreAPI

/// A line of `timeline --json`.
struct SavedLine: Decodable {
    let event: String
    let revision: UInt64
    let atNanoseconds: UInt64?
    let bootID: String?
    let session: String?
    let role: String?
    let name: String?
    let pid: Int32?
    let epoch: UInt64?
    let other: UInt64?
    let from: String?
    let to: String?
    let previousEpoch: UInt64?
    let previousEnd: String?
    let boundMs: UInt64?
    let reason: String?
    /// What dropped entries added up to, Base64.
    let checkpoint: String?
    /// The rule that an entry breaks by being damaged.
    let rule: String?

    /// The entry that the line tells of.
    func record(at place: String) throws(CommandFailure) -> TimelineRecord {
        func needed<Value>(_ value: Value?, _ field: String) throws(CommandFailure) -> Value {
            guard let value else { throw .usage("\(place): the field “\(field)” is missing or wrong") }
            return value
        }
        let boot = try needed(bootID.flatMap(BootID.init(hexadecimal:)), "bootID")
        let at = BootInstant(nanoseconds: try needed(atNanoseconds, "atNanoseconds"))
        let participant = Session(
            id: SessionID(rawValue: try needed(session.flatMap { UInt64($0) }, "session")),
            process: ProcessIdentity(bootID: boot, pid: try needed(pid, "pid"), startTime: 0),
            role: SessionRole(rawValue: try needed(role, "role")), name: name ?? "", openedAt: at)
        var previous: PreviousOwnership?
        if let previousEpoch {
            let end = OwnershipEnd.allCases.first { "\($0)" == previousEnd }
            previous = PreviousOwnership(
                epoch: Revision(rawValue: previousEpoch), end: try needed(end, "previousEnd"))
        }
        let kind = TimelineEntry.Kind.allCases.first { "\($0)" == event }
        let entry = TimelineEntry(
            try needed(kind, "event"), by: participant, epoch: epoch.map { Revision(rawValue: $0) },
            other: other.map { Revision(rawValue: $0) },
            from: try state(from, "from", needed), to: try state(to, "to", needed), previous: previous,
            bound: boundMs.map { .milliseconds(Int64(clamping: $0)) }, reason: reason ?? "", at: at, bootID: boot)
        return TimelineRecord(revision: Revision(rawValue: revision), entry: entry)
    }

    private func state(
        _ text: String?, _ field: String, _ needed: (OwnerState?, String) throws(CommandFailure) -> OwnerState
    ) throws(CommandFailure) -> OwnerState? {
        guard let text else { return nil }
        return try needed(OwnerState.allCases.first { $0.description == text }, field)
    }
}

extension BootID {
    /// What ``description`` gives.
    fileprivate init?(hexadecimal text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.dropFirst(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
