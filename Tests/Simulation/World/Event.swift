/// One thing that happens, by the numbers of those that it happens to.
enum Event {
    /// An incident of the schedule.
    case incident(Int)
    /// A member's alarm rings, if it is still set to this.
    case alarm(Int, UInt64)
    /// A member's directive takes effect.
    case carryOut(Int)
    /// A member hears that there is news.
    case news(Int)
    /// A member hears what stood some time ago.
    case staleNews(Int)
    /// A member's watch of what the group waits for begins.
    case followDemand(Int)
    /// A Main that was refused is told again to own.
    case startAgain(Int)
    /// A call does its next step.
    case call(Int)
    /// A call's alarm rings, if it is still set to this.
    case callAlarm(Int, UInt64)
    /// A core does something.
    case core(Int, CoreEvent)
    /// The system tells that a member is dead.
    case bury(Int)
    /// A stopped member goes on, if this is when it is to.
    case goOn(Int)
    /// Something has to be right by now.
    case judge(Judgement)

    enum CoreEvent {
        case announce, started, failed, stopped, enterCritical, leaveCritical
        /// A message comes from the server.
        case receive(Int)
        /// The core tells the server that it has it.
        case acknowledge(Int)
    }

    enum Judgement {
        /// A member that lost this ownership has stopped its core.
        case fenced(Int, epoch: UInt64)
        /// A member that cannot run does not own any more, when others wait.
        case frozen(Int, epoch: UInt64, since: UInt64)
        /// A dead member is not believed by whoever came after its death.
        case dead(Int, by: Int)
        /// A Main that asked has got what it asked for.
        case asked(Int, handover: UInt64, epoch: UInt64, since: UInt64)
        /// A call is over at its deadline.
        case overdue(Int)
    }
}
