public import CoreAPI

/// The owner of the core of a group.
///
/// Source: contract C1.
public struct GroupOwner: Hashable, Sendable {
    /// The session that ownership belongs to.
    public let session: SessionID
    /// Its role.
    public let role: SessionRole
    /// How far its core is.
    public let state: OwnerState
    /// The revision of its acquisition.
    public let epoch: Revision
    /// Its name for people.
    public let name: String
    /// Its process.
    public let process: ProcessIdentity
    /// When it acquired, on the boot clock of its process.
    public let since: BootInstant

    init(_ standing: Standing<OwnerRecord>) {
        session = standing.session
        role = standing.record.role
        state = standing.record.state
        epoch = standing.claim
        name = standing.record.name
        process = standing.record.process
        since = standing.record.since
    }

    /// Returns the owner of a group; nil if there is none. If the backend can detect dead processes, their sessions are
    /// ended first, so that a dead owner is not returned.
    public static func current(in store: some SharedStore) async throws(SharedCoreError) -> GroupOwner? {
        _ = try await store.sessions()
        return try await store.get(OwnershipKey.owner).map { GroupOwner(Standing($0)) }
    }
}

/// The state of the owner's core.
///
/// Source: contract C1.
public enum OwnerState: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The participant owns, and its core has not started yet.
    case starting = 1
    /// Its core runs.
    case running = 2
    /// Its core is being stopped; release follows.
    case stopping = 3

    public var description: String {
        switch self {
        case .starting: "starting"
        case .running: "running"
        case .stopping: "stopping"
        }
    }
}
