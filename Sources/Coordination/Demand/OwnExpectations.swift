package import CoreAPI
package import Mailboxes

/// What the calls of one participant wait for, by item: they share one expectation in the store.
package struct OwnExpectations: Sendable {
    private var deadlines: [ItemName: [Int: BootInstant]] = [:]

    package init() {}

    /// Takes in that a call waits. Gives the deadline that the expectation is to have.
    @discardableResult
    package mutating func expect(_ item: ItemName, before deadline: BootInstant, as number: Int) -> BootInstant {
        deadlines[item, default: [:]][number] = deadline
        return self.deadline(of: item) ?? deadline
    }

    /// The deadline that the expectation of an item is to have; nil when nobody waits for it.
    package func deadline(of item: ItemName) -> BootInstant? {
        deadlines[item]?.values.max()
    }

    /// Takes in that it waits no more. Gives whether the expectation is to be taken back.
    package mutating func forget(_ item: ItemName, as number: Int) -> Bool {
        deadlines[item]?[number] = nil
        guard deadlines[item]?.isEmpty == true else { return false }
        deadlines[item] = nil
        return true
    }
}
