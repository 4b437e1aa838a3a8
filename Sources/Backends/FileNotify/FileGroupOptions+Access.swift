extension FileGroupOptions {
    /// What a handle may do with a group.
    public enum Access: Hashable, Sendable {
        /// All that the contract promises: the handle is a participant with a session.
        case participant
        /// To look only. The handle has no session in the order, is not among the group's sessions and writes to no
        /// file, so it also works for a user who may only read the directory and its files.
        ///
        /// What it gives up, beside writing: nobody can wake it, so it looks at an interval, see
        /// ``Capabilities/wakeUp``; it cannot record that a dead participant's session is over or that an entry has
        /// expired, so its watches hear of that when a participant has; and it cannot open a group that nobody has
        /// opened since the machine was started.
        case readOnly
    }
}
