internal import CoreAPI

/// Which connections over a network get a place before they have proved a key.
///
/// A program that has a key proves it within milliseconds. So a connection that has not, and keeps its place for longer
/// than ``patience``, loses it as soon as another one wants it; one that comes meanwhile waits, and the newest goes
/// first. Addresses from which a key was proved go before others, have places beside theirs, and a count of their own.
struct Admission {
    /// How many such connections there may be, of all addresses and of one.
    static let limit = 256
    static let addressLimit = 16
    /// How long a place is kept that others wait for.
    static let patience = Duration.seconds(1)
    /// How many get a place within one interval: of addresses from which a key was proved, and of others. Each costs as
    /// much as a thousand messages.
    static let knownCount = 64
    static let unknownCount = 32
    /// How many addresses are remembered from which a key was proved.
    private static let knownAddressLimit = 1_024

    private struct Place {
        let number: UInt64
        let address: String
        let since: BootInstant
    }

    /// In the order in which they were given.
    private var places: [Place] = []
    /// How many of them each address has.
    private var counts: [String: Int] = [:]
    private var knownAddresses: Set<String> = []
    /// How many may still get a place within this interval.
    private var left = (known: knownCount, unknown: unknownCount)

    var count: Int { places.count }

    /// What becomes of a connection that wants a place.
    enum Decision: Equatable {
        case admitted
        /// In place of another, which is to be closed.
        case admittedFor(UInt64)
        case mustWait
    }

    /// Whether a key was proved from an address.
    func isKnown(_ address: String) -> Bool { knownAddresses.contains(address) }

    /// As many as within the last interval may get a place again.
    mutating func beginInterval() { left = (Self.knownCount, Self.unknownCount) }

    /// Gives a place to a connection, where there is one.
    mutating func admit(_ number: UInt64, from address: String, at now: BootInstant) -> Decision {
        let isKnown = isKnown(address)
        guard isKnown ? left.known > 0 : left.unknown > 0 else { return .mustWait }
        let own = counts[address] ?? 0
        var decision = Decision.admitted
        if own >= Self.addressLimit || (!isKnown && places.count >= Self.limit) {
            // Of those that have had their time, one of the address itself, or of the address that has the most.
            let overdue = places.prefix { $0.since.advanced(by: Self.patience) <= now }
            let former =
                own < Self.addressLimit
                ? overdue.max { counts[$0.address] ?? 0 < counts[$1.address] ?? 0 }
                : overdue.first { $0.address == address }
            guard let former, leave(former.number) else { return .mustWait }
            decision = .admittedFor(former.number)
        }
        if isKnown { left.known -= 1 } else { left.unknown -= 1 }
        places.append(Place(number: number, address: address, since: now))
        counts[address, default: 0] += 1
        return decision
    }

    /// A connection has proved a key, and needs no place any more.
    mutating func prove(_ number: UInt64, from address: String) {
        leave(number)
        if knownAddresses.insert(address).inserted, knownAddresses.count > Self.knownAddressLimit {
            _ = knownAddresses.popFirst()
        }
    }

    /// Other keys are let in now: each address has to prove one again.
    mutating func forgetAddresses() { knownAddresses = [] }

    /// A connection gives its place back; tells whether it had one.
    @discardableResult
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = places.firstIndex(where: { $0.number == number }) else { return false }
        let address = places.remove(at: index).address
        counts[address] = counts[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        return true
    }
}
