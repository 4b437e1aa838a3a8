internal import Platform
internal import Synchronization

/// A connection over a network, shared by the relay and the hub. Each of the two reads from the counts how many bytes
/// the other has processed.
final class RelayedConnection: Sendable {
    /// A client's use of the connection.
    enum Channel {
        case requests
        case stream
    }

    /// Identifies the connection among all of one relay, including ended ones.
    let number: UInt64
    let channel: Channel
    /// The other end's address.
    let address: String
    /// The address that counts for shares: the whole address, or the 64-bit network of IPv6, which one machine may have
    /// for itself.
    let source: String
    /// True if a client's session uses the connection: the hub has accepted a hello. Until then it may send only
    /// little.
    let isMember = Atomic(false)
    /// The bytes passed on to the library, and how many of them the library has given to the hub.
    let received = Atomic(0)
    private let settled = Atomic(0)
    /// The bytes of messages that the hub has taken and not answered yet.
    private let held = Atomic(0)
    /// The bytes that the other end's connection has accepted.
    let sent = Atomic(0)
    /// `isStalled` is true while the relay waits for the hub to complete requests, `isHeldBack` while the hub waits for
    /// the other end to receive answers.
    let isStalled = Atomic(false)
    let isHeldBack = Atomic(false)
    /// The other end; nil when the connection has ended.
    private let outer: Mutex<StreamConnection?>

    init(number: UInt64, channel: Channel, address: String, outer: StreamConnection?) {
        self.number = number
        self.channel = channel
        self.address = address
        source = Self.network(of: address) ?? address
        self.outer = Mutex(outer)
    }

    /// Returns the first 64 bits of an IPv6 address; nil for IPv4, including IPv4 addresses mapped to IPv6.
    private static func network(of address: String) -> String? {
        let digits = String(address.prefix { $0 != "%" })
        guard address.contains(":"), let bytes = AddressText.bytes(of: digits, byteCount: 16) else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? nil : "\(bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })/64"
    }

    /// True if the other end has sent data that the relay has not read.
    var hasUnread: Bool { outer.withLock { $0?.hasUnread ?? false } }

    /// Ends the connection and closes its descriptor.
    func end() { outer.withLock { $0 = nil } }

    /// The bytes beside each message: the library's frames, and heartbeats since the message before.
    private static let sideByteCount = 16 << 10

    /// Counts a message that the hub has taken, until it is answered.
    func take(_ byteCount: Int) {
        held.add(byteCount, ordering: .sequentiallyConsistent)
        let taken = settled.load(ordering: .sequentiallyConsistent) + byteCount + Self.sideByteCount
        settled.store(min(taken, received.load(ordering: .sequentiallyConsistent)), ordering: .sequentiallyConsistent)
    }

    /// Counts bytes of the connection that the hub keeps, or has completed.
    ///
    /// - Returns: Whether the relay waits for that.
    func hold(_ byteCount: Int) -> Bool {
        held.add(byteCount, ordering: .sequentiallyConsistent)
        return byteCount < 0 && isStalled.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// The bytes that the hub has not completed.
    var unsettled: Int {
        received.load(ordering: .sequentiallyConsistent) - settled.load(ordering: .sequentiallyConsistent)
            + held.load(ordering: .sequentiallyConsistent)
    }
}
