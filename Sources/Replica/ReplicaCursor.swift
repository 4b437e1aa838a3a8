internal import CoreAPI
internal import StoreEngine

/// A position in a state that yields what comes after it.
protocol ReplicaCursor: Sendable {
    associatedtype Element: Sendable

    /// What comes next; nil when there is nothing at this state.
    mutating func takeNext(in state: inout StoreState) -> Element?
}

extension WatchCursor: ReplicaCursor {
    mutating func takeNext(in state: inout StoreState) -> PendingWatchEvent? {
        next(in: &state)
    }
}

extension ObservationCursor: ReplicaCursor {
    mutating func takeNext(in state: inout StoreState) -> NotificationDelivery? {
        next(in: state)
    }
}
