internal import Coordination
internal import CoreAPI

/// What the owner of the core is busy with, as a host counts it.
///
/// A bound counts from when the host saw the activity first, unless it was begun before: the record says when it began, and a
/// beginning that lies ahead, whichever participant wrote it, lengthens nothing.
struct BusyOwner: Hashable, Sendable {
    private var process: ProcessIdentity?
    /// When the host saw each activity first.
    private var activities: [Activity: BootInstant] = [:]

    /// Takes in the owner and its open activities; no process where no participant owns.
    mutating func note(_ activities: [Activity], of process: ProcessIdentity?, at now: BootInstant) {
        let former = process == self.process ? self.activities : [:]
        self.process = process
        self.activities = Dictionary(
            activities.map { ($0, former[$0] ?? now) }, uniquingKeysWith: { first, _ in first })
    }

    /// When the last bound of a process has passed; nil when it is not the owner, or not busy.
    func latestEnd(of process: ProcessIdentity) -> BootInstant? {
        open(in: process).map { activity, seen in min(activity.begun, seen).advanced(by: activity.kind.bound) }.max()
    }

    /// Whether a process is the owner, with an open call.
    func isInCall(_ process: ProcessIdentity) -> Bool { open(in: process).keys.contains { $0.kind == .call } }

    private func open(in process: ProcessIdentity) -> [Activity: BootInstant] {
        process == self.process ? activities : [:]
    }
}
