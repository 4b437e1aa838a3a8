internal import CoreAPI
internal import Platform

/// The connections over a network that have no place yet. The relay sends each a greeting and waits for the complete
/// first bytes of a client with a key. A connection with complete first bytes waits here until it is admitted. Each
/// connection costs one descriptor and some 500 bytes.
///
/// So connections that send nothing cannot exclude clients: a client sends its first bytes within one or two round
/// trips.
struct Lobby {
    /// The maximum number of connections of one address. A further one displaces the oldest of them.
    static let addressLimit = 256

    /// The connections of one address.
    private struct Group {
        var count = 0
        /// The numbers of those with complete first bytes.
        var ready: [UInt64] = []
    }

    final class Newcomer {
        let connection: RelayedConnection
        let outer: StreamConnection
        let since: BootInstant
        /// The bytes received so far.
        fileprivate(set) var words: [UInt8] = []
        var isReady: Bool { words.count == Handshake.clientByteCount }

        init(_ connection: RelayedConnection, _ outer: StreamConnection, at now: BootInstant) {
            self.connection = connection
            self.outer = outer
            since = now
        }
    }

    /// The maximum number of connections in total.
    let limit: Int
    private var newcomers: [UInt64: Newcomer] = [:]
    /// Their numbers, in the order of arrival.
    private var arrivals: [UInt64] = []
    private var groups: [String: Group] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { newcomers.isEmpty }
    subscript(number: UInt64) -> Newcomer? { newcomers[number] }

    /// The addresses of connections with complete first bytes.
    var readyAddresses: [String] { groups.compactMap { $1.ready.isEmpty ? nil : $0 } }

    /// Returns one of an address's connections with complete first bytes, at random: in the order of arrival, or its
    /// reverse, some would get no turn in an endless flood.
    func ready(of address: String) -> Newcomer? {
        groups[address]?.ready.randomElement().flatMap { newcomers[$0] }
    }

    /// Adds a connection.
    ///
    /// - Parameter isKnown: Whether a key was proved from an address.
    /// - Returns: The connection to close if there are too many: the oldest of the same address, or of the address that
    ///   has the most. Of addresses with equally many, one from which no key was proved.
    mutating func take(_ newcomer: Newcomer, isKnown: (String) -> Bool) -> Newcomer? {
        let number = newcomer.connection.number
        newcomers[number] = newcomer
        arrivals.append(number)
        let address = newcomer.connection.source
        groups[address, default: Group()].count += 1
        let first: UInt64?
        if groups[address]?.count ?? 0 > Self.addressLimit {
            first = arrivals.first { newcomers[$0]?.connection.source == address }
        } else if arrivals.count > limit {
            let most = groups.values.reduce(0) { max($0, $1.count) }
            let candidates = arrivals.lazy.filter { [newcomers, groups] number in
                newcomers[number].flatMap { groups[$0.connection.source]?.count } == most
            }
            first =
                candidates.first { [newcomers] in newcomers[$0].map { !isKnown($0.connection.source) } ?? false }
                ?? candidates.first
        } else {
            first = nil
        }
        return first.flatMap { remove($0) }
    }

    @discardableResult
    mutating func remove(_ number: UInt64) -> Newcomer? {
        guard let newcomer = newcomers.removeValue(forKey: number) else { return nil }
        if let index = arrivals.firstIndex(of: number) { arrivals.remove(at: index) }
        let address = newcomer.connection.source
        if newcomer.isReady { groups[address]?.ready.removeAll { $0 == number } }
        groups[address]?.count -= 1
        if groups[address]?.count == 0 { groups[address] = nil }
        return newcomer
    }

    /// Reads a connection's first bytes.
    ///
    /// - Returns: Whether it may be a client's, judging by the bytes so far.
    mutating func hear(_ newcomer: Newcomer, through buffer: UnsafeMutableRawBufferPointer) -> Bool {
        while !newcomer.isReady {
            let missing = Handshake.clientByteCount - newcomer.words.count
            guard let count = newcomer.outer.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<missing]))
            else { return true }
            guard count > 0 else { return false }
            newcomer.words += buffer[..<count]
            guard Handshake.isClients(newcomer.words) else { return false }
            if newcomer.isReady { groups[newcomer.connection.source]?.ready.append(newcomer.connection.number) }
        }
        return true
    }

    /// Returns the connections that have taken too long.
    func overdue(at now: BootInstant, timeout: Duration) -> [Newcomer] {
        arrivals.compactMap { newcomers[$0] }.filter { $0.since.advanced(by: timeout) <= now }
    }
}

/// The first bytes of a connection with keys: the greeting of each end (ZMTP 3, RFC 23 of ZeroMQ) and the HELLO of the
/// client's end (CURVE, RFC 26).
enum Handshake {
    static let greetingByteCount = 64
    private static let mechanism = Array("CURVE".utf8) + [UInt8](repeating: 0, count: 15)
    /// A command of 200 bytes.
    private static let hello: [UInt8] = [4, 200, 5] + Array("HELLO".utf8)
    static let clientByteCount = greetingByteCount + 2 + 200

    /// The greeting of the hub's end: signature, version 3.1, mechanism, and that it is the server.
    static let greeting: [UInt8] =
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 1] + mechanism + [1] + [UInt8](repeating: 0, count: 31)

    /// Returns whether bytes may be the first ones of a client.
    static func isClients(_ bytes: [UInt8]) -> Bool {
        func holds(_ expected: [UInt8], at offset: Int) -> Bool {
            zip(bytes.dropFirst(offset), expected).allSatisfy { $0 == $1 }
        }
        return holds([0xFF], at: 0) && holds([0x7F], at: 9) && bytes.dropFirst(10).prefix(1).allSatisfy { $0 >= 3 }
            && holds(mechanism, at: 12) && holds(hello, at: greetingByteCount)
    }
}
