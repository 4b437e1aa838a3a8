internal import Coordination
internal import CoreAPI

/// The activities of the core's owner, as a host counts them.
struct BusyOwner: Hashable, Sendable {
    private var process: ProcessIdentity?
    private var activities: [Activity] = []
    private var giver: Giver?

    /// The process of a former owner with a call that moves. It keeps the baton until the deadline, and owns again if
    /// no other participant does (C25).
    struct Giver: Hashable, Sendable {
        let process: ProcessIdentity
        let deadline: BootInstant
    }

    /// Records the owner and its open activities. The process is nil if no participant owns.
    mutating func note(_ activities: [Activity], of process: ProcessIdentity?, giver: Giver? = nil) {
        self.process = process
        self.activities = activities
        self.giver = giver
    }

    /// Returns when the last bound of a process passes; nil if it neither owns with an open activity nor keeps a baton.
    func latestEnd(of process: ProcessIdentity) -> BootInstant? {
        let ends =
            open(in: process).map(\.latestEnd) + (giver?.process == process ? giver.map { [$0.deadline] } ?? [] : [])
        return ends.max()
    }

    /// Returns true if a process is the owner and has an open call.
    func isInCall(_ process: ProcessIdentity) -> Bool {
        // Compare the name alone, not the bound, which is shorter for a call that moved from another machine.
        open(in: process).contains { $0.kind.name == Activity.Kind.call.name }
    }

    private func open(in process: ProcessIdentity) -> [Activity] { process == self.process ? activities : [] }
}
