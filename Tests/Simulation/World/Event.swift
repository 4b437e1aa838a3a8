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
        /// The core begins an activity, or ends the one of this id.
        case beginActivity, endActivity(Int)
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
        /// A Main that was told to take over and to insist waits behind none that waits for activities.
        case heldUp(Int)
        /// A call is over at its deadline.
        case overdue(Int)
    }
}

/// The events to come, the earliest first; of two at one time, the one that was entered first.
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
    /// When the next event is due.
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
