internal import Wormholes

/// What the cases pass through mailboxes.
struct Parcel: Codable, Hashable, Sendable {
    var sender = 0
    var number: Int
    var text = ""
}

extension MailboxID where Message == Parcel {
    static var latest: MailboxID { MailboxID("parcels/latest") }
}

extension QueueID where Message == Parcel {
    static var queue: QueueID { QueueID("parcels/queue") }
}
