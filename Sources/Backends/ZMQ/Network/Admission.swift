internal import CoreAPI

/// Which connections over a network get a place before they have proved a key.
///
/// A program that has a key proves it within milliseconds. So a connection that has not, and keeps its place for longer
/// than ``patience``, loses it as soon as another one wants it.
///
/// Places are shared between addresses, not connections: of the addresses that want one, that goes first which has the
/// fewest connections that had a place lately and proved no key. Addresses from which a key was proved go before others,
/// have places beside theirs, and a count of their own.
struct Admission {
    /// What connections share whose address is of one kind.
    struct Share {
        /// How many of them there may be of one address.
        let addressLimit: Int
        /// How many get a place within one interval. Each costs as much as a thousand messages.
        let count: Int
    }

    static let unknown = Share(addressLimit: 16, count: 32)
    /// More of one address: clients with keys may share it with a flood, as behind one router.
    static let known = Share(addressLimit: 128, count: 64)
    /// How many such connections there may be in all of each kind.
    static let limit = 256
    /// How long a place is kept that others wait for.
    static let patience = Duration.seconds(1)
    /// After how many intervals of a quarter of a second half of what counts against an address is forgotten.
    static let forgivingInterval = 40
    /// How many addresses are remembered from which a key was proved.
    private static let knownAddressLimit = 1_024

    private struct Place {
        let number: UInt64
        let address: String
        let isKnown: Bool
        let since: BootInstant
    }

    /// In the order in which they were given.
    private var places: [Place] = []
    /// How many of them each address has.
    private var counts: [String: Int] = [:]
    /// The keys that were proved from each address.
    private var knownAddresses: [String: Set<String>] = [:]
    /// How many connections of each address had a place, and proved no key. There are no more entries than places were
    /// given in twice the time after which half of it is forgotten.
    private var unproved: [String: Int] = [:]
    private var intervalCount = 0
    /// How many may still get a place within this interval.
    private var left = (known: known.count, unknown: unknown.count)

    var count: Int { places.count }

    /// What becomes of a connection that wants a place.
    enum Decision: Equatable {
        case admitted
        /// In place of another, which is to be closed.
        case admittedFor(UInt64)
        case mustWait
    }

    /// Whether a key was proved from an address.
    func isKnown(_ address: String) -> Bool { knownAddresses[address] != nil }

    /// In which order addresses get a place, the least first; nil for one that gets none within this interval.
    func rank(of address: String) -> (kind: Int, unproved: Int)? {
        let isKnown = isKnown(address)
        guard isKnown ? left.known > 0 : left.unknown > 0 else { return nil }
        return (isKnown ? 0 : 1, unproved[address] ?? 0)
    }

    /// As many as within the last interval may get a place again.
    mutating func beginInterval() {
        left = (Self.known.count, Self.unknown.count)
        intervalCount += 1
        guard intervalCount.isMultiple(of: Self.forgivingInterval) else { return }
        unproved = unproved.compactMapValues { $0 > 1 ? $0 / 2 : nil }
    }

    /// Gives a place to a connection, where there is one.
    mutating func admit(_ number: UInt64, from address: String, at now: BootInstant) -> Decision {
        guard rank(of: address) != nil else { return .mustWait }
        let isKnown = isKnown(address)
        let own = counts[address] ?? 0
        let isFull = own >= (isKnown ? Self.known : Self.unknown).addressLimit
        var decision = Decision.admitted
        if isFull || places.count(where: { $0.isKnown == isKnown }) >= Self.limit {
            // Of those that have had their time, one of the address itself, or of the address that has the most.
            let overdue = places.prefix { $0.since.advanced(by: Self.patience) <= now }
            let former =
                isFull
                ? overdue.first { $0.address == address }
                : overdue.filter { $0.isKnown == isKnown }.max { counts[$0.address] ?? 0 < counts[$1.address] ?? 0 }
            guard let former, leave(former.number) else { return .mustWait }
            decision = .admittedFor(former.number)
        }
        if isKnown { left.known -= 1 } else { left.unknown -= 1 }
        places.append(Place(number: number, address: address, isKnown: isKnown, since: now))
        counts[address, default: 0] += 1
        unproved[address, default: 0] += 1
        return decision
    }

    /// A connection has proved a key: it needs no place any more, and counts against its address no longer.
    mutating func prove(_ number: UInt64, from address: String) {
        guard leave(number) else { return }
        unproved[address] = unproved[address].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Remembers that a key was proved from an address.
    mutating func remember(_ key: String, from address: String) {
        if !isKnown(address), knownAddresses.count >= Self.knownAddressLimit { _ = knownAddresses.popFirst() }
        knownAddresses[address, default: []].insert(key)
    }

    /// Forgets keys that are let in no more, and addresses from which no other one was proved.
    mutating func forgetKeys(except keys: Set<String>) {
        knownAddresses = knownAddresses.compactMapValues { proved in
            let kept = proved.intersection(keys)
            return kept.isEmpty ? nil : kept
        }
    }

    /// A connection gives its place back; tells whether it had one.
    @discardableResult
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = places.firstIndex(where: { $0.number == number }) else { return false }
        let address = places.remove(at: index).address
        counts[address] = counts[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        return true
    }
}
