internal import Coordination
internal import CoreAPI

/// What the owner of the core is busy with, as a host counts it.
struct BusyOwner: Hashable, Sendable {
    private var process: ProcessIdentity?
    private var activities: [Activity] = []
    private var giver: Giver?

    /// The process of a former owner whose call moves: it keeps the baton until then, and owns again where no other does (C25).
    struct Giver: Hashable, Sendable {
        let process: ProcessIdentity
        let deadline: BootInstant
    }

    /// Takes in the owner and its open activities; no process where no participant owns.
    mutating func note(_ activities: [Activity], of process: ProcessIdentity?, giver: Giver? = nil) {
        self.process = process
        self.activities = activities
        self.giver = giver
    }

    /// When the last bound of a process has passed; nil when it is not the owner, or not busy, and keeps no baton.
    func latestEnd(of process: ProcessIdentity) -> BootInstant? {
        let ends =
            open(in: process).map(\.latestEnd) + (giver?.process == process ? giver.map { [$0.deadline] } ?? [] : [])
        return ends.max()
    }

    /// Whether a process is the owner, with an open call.
    func isInCall(_ process: ProcessIdentity) -> Bool {
        // Without the bound: that of a call from another machine is shorter.
        open(in: process).contains { $0.kind.name == Activity.Kind.call.name }
    }

    private func open(in process: ProcessIdentity) -> [Activity] { process == self.process ? activities : [] }
}
