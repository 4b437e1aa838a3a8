internal import CoreAPI
internal import Wormholes

/// Takes all events of a listener of parcels.
typealias MailboxRecorder = Recorder<[MailboxEvent<Parcel>]>

extension Recorder<[MailboxEvent<Parcel>]> {
    convenience init(_ events: MailboxEvents<Parcel>) {
        self.init([], cancel: { events.cancel() }) { box in
            var iterator = events.makeAsyncIterator()
            // After an error, the case fails because events are missing.
            while let event = try? await iterator.next() { box.update { $0.append(event) } }
        }
    }

    /// The events received so far.
    var heard: [MailboxEvent<Parcel>] { box.value }

    /// Waits until `count` events were received.
    func hears(_ count: Int, timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("\(count) events are heard, not \(self.heard.count)", timeout: timeout) {
            self.heard.count >= count
        }
    }

    /// The number of sends and clearings that the events represent.
    var total: UInt64 {
        heard.reduce(0) { sum, event in
            if case .lagged(let count) = event { sum + count } else { sum + 1 }
        }
    }
}

extension MailboxEvent where Message == Parcel {
    /// The event in a word or two, for comparing.
    var summary: String {
        switch self {
        case .message(let message): "\(message.value.number)"
        case .cleared: "cleared"
        case .undecodable: "undecodable"
        case .lagged(let count): "lagged \(count)"
        }
    }
}

/// The value that the cases pass through mailboxes.
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
