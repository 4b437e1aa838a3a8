internal import Coordination
internal import CoreAPI

/// What the owner of the core is busy with, as a host counts it.
struct BusyOwner: Hashable, Sendable {
    private var process: ProcessIdentity?
    private var activities: [Activity] = []

    /// Takes in the owner and its open activities; no process where no participant owns.
    mutating func note(_ activities: [Activity], of process: ProcessIdentity?) {
        self.process = process
        self.activities = activities
    }

    /// When the last bound of a process has passed; nil when it is not the owner, or not busy.
    func latestEnd(of process: ProcessIdentity) -> BootInstant? { open(in: process).map(\.latestEnd).max() }

    /// Whether a process is the owner, with an open call.
    func isInCall(_ process: ProcessIdentity) -> Bool { open(in: process).contains { $0.kind == .call } }

    private func open(in process: ProcessIdentity) -> [Activity] { process == self.process ? activities : [] }
}
