internal import Synchronization

/// Something that has happened or not, and then for ever.
package final class OneWayFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    package func raise() {
        raised.store(true, ordering: .releasing)
    }
}
