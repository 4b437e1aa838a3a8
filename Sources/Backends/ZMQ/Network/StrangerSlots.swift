internal import CoreAPI

/// How many connections over a network may be open that have not proved a key, and which of them gives its place to
/// another.
///
/// A program that has a key proves it within milliseconds. So a connection that has not, and keeps its place for longer
/// than ``patience``, loses it as soon as another one wants it; one that comes meanwhile waits, and the newest goes
/// first.
struct StrangerSlots {
    /// How many there may be, of all addresses and of one.
    static let limit = 256
    static let addressLimit = 16
    /// How long a place is kept that others wait for.
    static let patience = Duration.seconds(1)

    private struct Stranger {
        let number: UInt64
        let address: String
        let since: BootInstant
    }

    /// In the order in which they came.
    private var strangers: [Stranger] = []
    /// How many of them each address has.
    private var counts: [String: Int] = [:]

    var count: Int { strangers.count }

    /// What becomes of a connection that wants a place.
    enum Decision: Equatable {
        case admitted
        /// In place of another, which is to be closed.
        case admittedFor(UInt64)
        case mustWait
    }

    /// Gives a place to a connection, where there is one.
    ///
    /// - Parameter isKnown: Whether a key was proved from the address before. Such an address has its own places beside
    ///   the others', so that no number of other addresses keeps it out.
    mutating func admit(
        _ number: UInt64, from address: String, isKnown: Bool = false, at now: BootInstant
    ) -> Decision {
        let own = counts[address] ?? 0
        if own < Self.addressLimit, isKnown || strangers.count < Self.limit {
            add(number, address, now)
            return .admitted
        }
        // Of those that have had their time, one of the address itself, or of the address that has the most.
        let overdue = strangers.prefix { $0.since.advanced(by: Self.patience) <= now }
        let former =
            own < Self.addressLimit
            ? overdue.max { counts[$0.address] ?? 0 < counts[$1.address] ?? 0 }
            : overdue.first { $0.address == address }
        guard let former, leave(former.number) else { return .mustWait }
        add(number, address, now)
        return .admittedFor(former.number)
    }

    private mutating func add(_ number: UInt64, _ address: String, _ now: BootInstant) {
        strangers.append(Stranger(number: number, address: address, since: now))
        counts[address, default: 0] += 1
    }

    /// A connection is no stranger any more, or is gone; tells whether it was one.
    @discardableResult
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = strangers.firstIndex(where: { $0.number == number }) else { return false }
        let address = strangers.remove(at: index).address
        counts[address] = counts[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        return true
    }
}
