internal import Platform
internal import Synchronization

/// A connection over a network, as the relay and the hub know it. The figures tell each of them how far the other is.
final class RelayedConnection: Sendable {
    /// What a client uses the connection for.
    enum Channel {
        case requests
        case stream
    }

    /// Tells connections of one relay apart, also when they are over.
    let number: UInt64
    let channel: Channel
    /// The other end's address.
    let address: String
    /// That by which it shares with others: the address, of IPv6 the network of 64 bits that one machine has for itself.
    let source: String
    /// Whether a client's session uses it: the hub has accepted a hello. Until then a connection may send little.
    let isMember = Atomic(false)
    /// The bytes that were passed on to the library, and those of them that it has given to the hub.
    let received = Atomic(0)
    private let settled = Atomic(0)
    /// The bytes of messages that the hub has taken, and has not answered yet.
    private let held = Atomic(0)
    /// The bytes that the other end's system has taken.
    let sent = Atomic(0)
    /// Whether the relay waits for the hub to be done with more of them, and the hub for the other end to take more.
    let isStalled = Atomic(false)
    let isHeldBack = Atomic(false)
    /// The other end; nil when the connection is over.
    private let outer: Mutex<StreamConnection?>

    init(number: UInt64, channel: Channel, address: String, outer: StreamConnection?) {
        self.number = number
        self.channel = channel
        self.address = address
        source = Self.network(of: address) ?? address
        self.outer = Mutex(outer)
    }

    /// The first 64 bits of an address of IPv6; nil for another one, also where it stands in one of IPv6.
    private static func network(of address: String) -> String? {
        let digits = String(address.prefix { $0 != "%" })
        guard address.contains(":"), let bytes = AddressText.bytes(of: digits, byteCount: 16) else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? nil : "\(bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })/64"
    }

    /// Whether the other end has sent what the relay has not read.
    var hasUnread: Bool { outer.withLock { $0?.hasUnread ?? false } }

    /// The connection is over; its descriptor is given back.
    func end() { outer.withLock { $0 = nil } }

    /// What comes beside each message: the library's frames, and heartbeats since the message before.
    private static let sideByteCount = 16 << 10

    /// The hub has taken a message, and holds it until it is answered.
    func take(_ byteCount: Int) {
        held.add(byteCount, ordering: .sequentiallyConsistent)
        let taken = settled.load(ordering: .sequentiallyConsistent) + byteCount + Self.sideByteCount
        settled.store(min(taken, received.load(ordering: .sequentiallyConsistent)), ordering: .sequentiallyConsistent)
    }

    /// The hub has something in hand that the connection has sent, or has done with it.
    ///
    /// - Returns: Whether the relay waits for that.
    func hold(_ byteCount: Int) -> Bool {
        held.add(byteCount, ordering: .sequentiallyConsistent)
        return byteCount < 0 && isStalled.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// The bytes that the hub is not done with.
    var unsettled: Int {
        received.load(ordering: .sequentiallyConsistent) - settled.load(ordering: .sequentiallyConsistent)
            + held.load(ordering: .sequentiallyConsistent)
    }
}
