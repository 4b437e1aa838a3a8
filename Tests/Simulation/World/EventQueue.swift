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
