internal import CoreAPI

extension NotificationDelivery {
    /// One delivery that stands for this one and all that came after it up to a later one.
    func followed(by later: NotificationDelivery) -> NotificationDelivery {
        NotificationDelivery(
            name: later.name, state: later.state, count: count + later.count, revision: later.revision,
            origin: later.origin)
    }
}
