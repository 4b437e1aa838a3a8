internal import Coordination
internal import CoreAPI

/// An event, with the numbers of the objects concerned.
enum Event {
    /// An incident of the schedule.
    case incident(Int)
    /// A member's alarm fires, if it is still set to this time.
    case alarm(Int, UInt64)
    /// A member's directive takes effect.
    case carryOut(Int)
    /// A member is notified of changes.
    case news(Int)
    /// A member receives outdated records.
    case staleNews(Int)
    /// A member's watch of the demand begins.
    case followDemand(Int)
    /// A refused Main is started again.
    case startAgain(Int)
    /// A call performs its next step.
    case call(Int)
    /// A call's alarm fires, if it is still set to this time.
    case callAlarm(Int, UInt64)
    /// The sender of a command performs its next step.
    case order(Int, OrderStep)
    /// An event of a core.
    case core(Int, CoreEvent)
    /// The core that gave a member's baton has dealt with its end.
    case batonEnded(Int)
    /// The system reports that a member is dead.
    case bury(Int)
    /// A stopped member is resumed, if it is still set to this time.
    case goOn(Int)
    /// A rule must hold by now.
    case judge(Judgement)

    enum OrderStep {
        case send, read
        /// The sender withdraws its command, behind the progress that it has read.
        case withdraw(Transaction, CommandProgress?)
    }

    enum CoreEvent {
        case announce, started, failed, stopped, enterCritical, leaveCritical
        /// The core has become quiet, for a rest.
        case quiet
        /// The core begins an activity, or ends the one of this id.
        case beginActivity, endActivity(Int)
        /// The core begins a call, or ends the one of this number.
        case beginCall, endCall(Int)
        /// The core reads whether the call of this number may begin or cease to move, and commits that.
        case readMoves(Int), commitMoves(Int, Transaction)
        /// The core reads the commands for the call of this number, takes one of them, and reports the outcome.
        case readCommands(Int), takeCommand(Int, Transaction), finishCommand(Int, taken: Revision)
        /// The core fetches a baton, ends the calls of former cores, and applies the baton.
        case prepare, endLostCalls, useBaton
        /// A message arrives from the server.
        case receive(Int)
        /// The core acknowledges a message to the server.
        case acknowledge(Int)
    }

    enum Judgement {
        /// A member that lost this ownership must have stopped its core.
        case fenced(Int, epoch: UInt64)
        /// A member that cannot run must no longer own, if others wait.
        case frozen(Int, epoch: UInt64, since: UInt64)
        /// A member that joined after another one's death must not wait for the dead one.
        case dead(Int, by: Int)
        /// A Main's request must be fulfilled.
        case asked(Int, handover: UInt64, epoch: UInt64, since: UInt64)
        /// A Main that was started to take over and insist must not wait behind a Main that waits for activities.
        case heldUp(Int)
        /// A baton must not stay for long.
        case offered(Int, baton: UInt64)
        /// A call must be over at its deadline.
        case overdue(Int)
        /// A rest that was woken at this time must have ended.
        case woken(rest: UInt64, since: UInt64)
    }
}

/// The future events, the earliest first; at the same time, in the order of insertion.
struct EventQueue {
    private struct Item {
        let at: UInt64
        let number: UInt64
        let event: Event

        func precedes(_ other: Item) -> Bool {
            at != other.at ? at < other.at : number < other.number
        }
    }

    private var heap: [Item] = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }
    /// The time of the next event.
    var next: UInt64? { heap.first?.at }

    mutating func insert(_ event: Event, at time: UInt64) {
        lastNumber += 1
        let item = Item(at: time, number: lastNumber, event: event)
        heap.append(item)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard item.precedes(heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = item
    }

    mutating func removeFirst() -> Event? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first.event }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(last) else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return first.event
    }
}
