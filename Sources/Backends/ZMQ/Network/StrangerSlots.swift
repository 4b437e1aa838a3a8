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

    var count: Int { strangers.count }

    /// What becomes of a connection that wants a place.
    enum Decision: Equatable {
        case admitted
        /// In place of another, which is to be closed.
        case admittedFor(UInt64)
        case mustWait
    }

    /// Gives a place to a connection, where there is one.
    mutating func admit(_ number: UInt64, from address: String, at now: BootInstant) -> Decision {
        let sameAddress = strangers.lazy.filter { $0.address == address }.count
        if strangers.count < Self.limit, sameAddress < Self.addressLimit {
            strangers.append(Stranger(number: number, address: address, since: now))
            return .admitted
        }
        guard let oldest = strangers.first, oldest.since.advanced(by: Self.patience) <= now else { return .mustWait }
        let crowd = sameAddress < Self.addressLimit ? largestAddress : address
        guard let index = strangers.firstIndex(where: { $0.address == crowd }),
            strangers[index].since.advanced(by: Self.patience) <= now
        else { return .mustWait }
        let former = strangers.remove(at: index).number
        strangers.append(Stranger(number: number, address: address, since: now))
        return .admittedFor(former)
    }

    /// A connection is no stranger any more, or is gone; tells whether it was one.
    @discardableResult
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = strangers.firstIndex(where: { $0.number == number }) else { return false }
        strangers.remove(at: index)
        return true
    }

    /// The address that has the most of them.
    private var largestAddress: String? {
        Dictionary(grouping: strangers, by: \.address).max { $0.value.count < $1.value.count }?.key
    }
}
