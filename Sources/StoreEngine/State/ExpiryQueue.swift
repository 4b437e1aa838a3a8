internal import CoreAPI

/// The deadlines of expiring entries, the earliest first: a binary heap. Writing an entry again leaves its old deadline
/// behind. A reader of the first deadline drops it if the entry's own deadline differs.
struct ExpiryQueue: Sendable {
    struct Deadline: Sendable {
        let instant: BootInstant
        let key: Key
    }

    private var heap: [Deadline] = []

    /// In no order.
    var all: [Deadline] { heap }
    var count: Int { heap.count }
    var first: Deadline? { heap.first }

    mutating func insert(_ deadline: Deadline) {
        heap.append(deadline)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].instant < heap[parent].instant else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].instant < heap[least].instant { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    mutating func removeAll() {
        heap.removeAll()
    }
}
