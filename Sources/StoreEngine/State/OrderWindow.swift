package import CoreAPI

/// An element of the order.
package protocol OrderElement: Sendable {
    var revision: Revision { get }
    /// The size of the element in the memory of a window, in bytes.
    var residentByteCount: Int { get }
}

/// The latest elements of the order, limited by their bytes. A reader that knows the state at a recent revision
/// continues from them. The last element is kept regardless of its size, so that a reader that has all earlier ones
/// sees no gap.
package struct OrderWindow<Element: OrderElement>: Sendable {
    /// The bytes of memory that the window may take.
    package let byteLimit: Int
    /// Every element after this revision is in the window.
    package private(set) var floor: Revision

    private var elements: [Element] = []
    private var first = 0
    private var byteCount = 0
    /// The bytes of the dropped elements, which are not freed yet.
    private var droppedByteCount = 0

    init(floor: Revision, byteLimit: Int) {
        self.floor = floor
        self.byteLimit = byteLimit
    }

    /// The last kept element; nil if there is none.
    package var last: Element? {
        first < elements.count ? elements.last : nil
    }

    mutating func append(_ element: Element) {
        byteCount += element.residentByteCount
        elements.append(element)
        while byteCount > byteLimit, first < elements.count - 1 {
            byteCount -= elements[first].residentByteCount
            droppedByteCount += elements[first].residentByteCount
            floor = elements[first].revision
            first += 1
        }
        // Dropping from the front in large steps keeps each append at constant cost on average.
        if first > 64 && first * 2 > elements.count || droppedByteCount > byteLimit {
            elements.removeFirst(first)
            first = 0
            droppedByteCount = 0
        }
    }

    /// Drops the elements up to `revision`, and with them the references to their values.
    package mutating func forget(through revision: Revision) {
        while first < elements.count, elements[first].revision <= revision {
            byteCount -= elements[first].residentByteCount
            first += 1
        }
        elements.removeFirst(first)
        first = 0
        droppedByteCount = 0
        floor = max(floor, revision)
    }

    /// Prepends the elements of an earlier window, which is complete up to `revision`. Changes nothing if there is a
    /// gap between the two, or nothing to prepend.
    mutating func prepend(_ earlier: Self, through revision: Revision) {
        guard earlier.floor < floor, floor <= revision, let own = elements(after: floor) else { return }
        let limit = floor
        restart(at: earlier.floor)
        for element in earlier.elements(after: earlier.floor) ?? [] where element.revision <= limit { append(element) }
        for element in own { append(element) }
    }

    /// Drops everything and restarts at `revision`.
    mutating func restart(at revision: Revision) {
        elements.removeAll()
        first = 0
        byteCount = 0
        droppedByteCount = 0
        floor = revision
    }

    /// Returns the elements after `revision`; nil if some of them are no longer kept.
    package func elements(after revision: Revision) -> ArraySlice<Element>? {
        guard revision >= floor else { return nil }
        var low = first
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].revision <= revision { low = middle + 1 } else { high = middle }
        }
        return elements[low...]
    }
}

/// The latest changes, from which watches can resume.
package typealias History = OrderWindow<CommittedChanges>

/// The latest effects, for the delivery to remote replicas.
package typealias EffectLog = OrderWindow<Effect>
