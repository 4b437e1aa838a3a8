/// An external event for a group, at its time: an input or a fault.
package struct Incident: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A member opens the group.
        case open(member: Int)
        /// A Main is started to own. One that insists waits for no activity.
        case start(member: Int, takingOver: Bool, insisting: Bool)
        /// The application of a Main asks it to rest, or to resume.
        case rest(member: Int), resume(member: Int)
        /// A member is closed.
        case close(member: Int)
        /// A push wakes a member for a message, with its deadline in microseconds.
        case push(member: Int, message: Int, deadline: Int, insists: Bool)
        /// A message arrives at the server.
        case arrive(message: Int)
        /// The running core of a member fails.
        case failCore(member: Int)
        /// A process is killed.
        case kill(process: Int)
        /// A process is killed at the next commit of one of its members, or at a later one: before it takes effect, or
        /// right after.
        case killAtCommit(member: Int, skipping: Int, after: Bool)
        /// A process is stopped, for a number of microseconds.
        case freeze(process: Int, duration: Int)
        /// A process is stopped right after the next commit of one of its members, or a later one.
        case freezeAtCommit(member: Int, skipping: Int, duration: Int)
        /// The store refuses every commit of a member, for a number of microseconds.
        case trouble(member: Int, duration: Int)
        /// The machine sleeps: the clock of all members continues.
        case sleep(duration: Int)
        /// The machine restarts: no member survives, the store stays, the clock starts again.
        case reboot
    }

    /// The time, in microseconds from the beginning.
    package var at: Int
    package var kind: Kind

    /// The member concerned.
    package var member: Int? {
        switch kind {
        case .open(let member), .start(let member, _, _), .rest(let member), .resume(let member), .close(let member),
            .push(let member, _, _, _), .failCore(let member), .killAtCommit(let member, _, _),
            .freezeAtCommit(let member, _, _), .trouble(let member, _):
            member
        case .arrive, .kill, .freeze, .sleep, .reboot: nil
        }
    }
}
