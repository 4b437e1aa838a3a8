/// One thing that happens to a group from outside, at its time: an input or a fault.
package struct Incident: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A member opens the group.
        case open(member: Int)
        /// A Main is told to own. One that insists waits for no activity.
        case start(member: Int, takingOver: Bool, insisting: Bool)
        /// A member is closed.
        case close(member: Int)
        /// A push wakes a member for a message, with the time that it has in microseconds.
        case push(member: Int, message: Int, deadline: Int, insists: Bool)
        /// A message comes to the server.
        case arrive(message: Int)
        /// The core that runs in a member fails.
        case failCore(member: Int)
        /// A process is killed.
        case kill(process: Int)
        /// A process is killed at the next commit of one of its members, or at one after that: before it takes effect,
        /// or right after.
        case killAtCommit(member: Int, skipping: Int, after: Bool)
        /// A process is stopped, for so many microseconds.
        case freeze(process: Int, duration: Int)
        /// A process is stopped right after the next commit of one of its members, or after one after that.
        case freezeAtCommit(member: Int, skipping: Int, duration: Int)
        /// The store refuses every commit of a member, for so many microseconds.
        case trouble(member: Int, duration: Int)
        /// The machine sleeps: the clock of all goes on.
        case sleep(duration: Int)
        /// The machine starts again: nobody lives, the store stays, the clock begins anew.
        case reboot
    }

    /// When, in microseconds from the beginning.
    package var at: Int
    package var kind: Kind

    /// The member that it is about.
    package var member: Int? {
        switch kind {
        case .open(let member), .start(let member, _, _), .close(let member), .push(let member, _, _, _),
            .failCore(let member), .killAtCommit(let member, _, _), .freezeAtCommit(let member, _, _),
            .trouble(let member, _):
            member
        case .arrive, .kill, .freeze, .sleep, .reboot: nil
        }
    }
}
