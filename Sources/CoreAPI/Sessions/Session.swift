/// One participant of a group: an open handle with its own life.
///
/// What lives with a session (``Lifetime/session``) is gone when it ends: when it is closed, when its process dies, or,
/// over a network, when its lease runs out.
///
/// Source: contract L1, L2.
public struct Session: Hashable, Sendable {
    /// Its identity in the group.
    public let id: SessionID
    /// The process that it belongs to.
    public let process: ProcessIdentity
    /// What it is.
    public let role: SessionRole
    /// Its name for people, at most 128 bytes.
    public let name: String
    /// When it began, by the clock of the machine's run.
    public let openedAt: BootInstant

    public init(id: SessionID, process: ProcessIdentity, role: SessionRole, name: String, openedAt: BootInstant) {
        self.id = id
        self.process = process
        self.role = role
        self.name = name
        self.openedAt = openedAt
    }
}
