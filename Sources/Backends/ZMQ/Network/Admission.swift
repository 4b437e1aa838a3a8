internal import CoreAPI

/// Decides which connections over a network get a place before they have proved a key.
///
/// A program that has a key proves it within milliseconds. So a connection that has proved no key after ``timeout``
/// loses its place as soon as another connection wants one.
///
/// Places are shared between addresses, not between connections. Of the addresses with waiting connections, the one
/// comes first that has the fewest recent connections with a place and without a proof. Addresses from which a key was
/// proved precede others, and have places and a count of their own.
struct Admission {
    /// The limits that connections from one kind of address share.
    struct Share {
        /// How many of them one address may have.
        let addressLimit: Int
        /// How many get a place within one interval. Each costs as much as a thousand messages.
        let count: Int
    }

    static let unknown = Share(addressLimit: 16, count: 32)
    /// More per address: clients with keys may share their address with a flood, as behind one router.
    static let known = Share(addressLimit: 128, count: 64)
    /// How many such connections there may be in all, for each kind.
    static let limit = 256
    /// How long a connection keeps a place that others wait for.
    static let timeout = Duration.seconds(1)
    /// The number of quarter-second intervals after which half of an address's unproved connections are forgotten.
    static let forgivingInterval = 40
    /// How many addresses with a proved key are remembered.
    private static let knownAddressLimit = 1_024

    private struct Place {
        let number: UInt64
        let address: String
        let isKnown: Bool
        let since: BootInstant
    }

    /// In the order of admission.
    private var places: [Place] = []
    /// How many places each address has.
    private var counts: [String: Int] = [:]
    /// The keys that were proved from each address.
    private var knownAddresses: [String: Set<String>] = [:]
    /// How many connections of each address had a place and proved no key. The number of entries is at most that of the
    /// places given in twice the time after which half is forgotten.
    private var unproved: [String: Int] = [:]
    private var intervalCount = 0
    /// How many connections may still get a place within this interval.
    private var left = (known: known.count, unknown: unknown.count)

    var count: Int { places.count }

    /// The decision on a connection that wants a place.
    enum Decision: Equatable {
        case admitted
        /// Admitted in place of another connection, which must be closed.
        case admittedFor(UInt64)
        case mustWait
    }

    /// Returns whether a key was proved from an address.
    func isKnown(_ address: String) -> Bool { knownAddresses[address] != nil }

    /// Returns the rank of an address, the lowest first; nil if it gets no place within this interval.
    func rank(of address: String) -> (kind: Int, unproved: Int)? {
        let isKnown = isKnown(address)
        guard isKnown ? left.known > 0 : left.unknown > 0 else { return nil }
        return (isKnown ? 0 : 1, unproved[address] ?? 0)
    }

    /// Starts an interval with its full count of places.
    mutating func beginInterval() {
        left = (Self.known.count, Self.unknown.count)
        intervalCount += 1
        guard intervalCount.isMultiple(of: Self.forgivingInterval) else { return }
        unproved = unproved.compactMapValues { $0 > 1 ? $0 / 2 : nil }
    }

    /// Gives a connection a place, if there is one.
    mutating func admit(_ number: UInt64, from address: String, at now: BootInstant) -> Decision {
        guard rank(of: address) != nil else { return .mustWait }
        let isKnown = isKnown(address)
        let own = counts[address] ?? 0
        let isFull = own >= (isKnown ? Self.known : Self.unknown).addressLimit
        var decision = Decision.admitted
        if isFull || places.count(where: { $0.isKnown == isKnown }) >= Self.limit {
            // The place is taken from an overdue connection: of the same address, or of the address that has the most
            // places.
            let overdue = places.prefix { $0.since.advanced(by: Self.timeout) <= now }
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

    /// Handles a connection that has proved a key: it needs no place and no longer counts against its address.
    mutating func prove(_ number: UInt64, from address: String) {
        guard leave(number) else { return }
        unproved[address] = unproved[address].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Remembers that a key was proved from an address.
    mutating func remember(_ key: String, from address: String) {
        if !isKnown(address), knownAddresses.count >= Self.knownAddressLimit { _ = knownAddresses.popFirst() }
        knownAddresses[address, default: []].insert(key)
    }

    /// Forgets revoked keys, and addresses from which no other key was proved.
    mutating func forgetKeys(except keys: Set<String>) {
        knownAddresses = knownAddresses.compactMapValues { proved in
            let kept = proved.intersection(keys)
            return kept.isEmpty ? nil : kept
        }
    }

    /// Frees a connection's place; returns whether it had one.
    @discardableResult
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = places.firstIndex(where: { $0.number == number }) else { return false }
        let address = places.remove(at: index).address
        counts[address] = counts[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        return true
    }
}
