internal import CoreAPI
internal import Platform

/// The peers of a server: what each has sent of its next request, and until when it must be complete.
struct PeerTable {
    /// A complete request.
    struct Request: Sendable {
        let peer: Int
        let bytes: [UInt8]
    }

    private struct Peer {
        let connection: StreamConnection
        var received: [UInt8] = []
        /// Nil while its request is being answered.
        var deadline: BootInstant?
    }

    private let rules: RequestServer.Rules
    private var peers: [Int: Peer] = [:]
    private var count = 0

    init(rules: RequestServer.Rules) {
        self.rules = rules
    }

    /// The peers that may send something now.
    var listening: [(key: Int, descriptor: Int32)] {
        peers.filter { $0.value.deadline != nil }.map { ($0.key, $0.value.connection.descriptor) }
    }

    /// The earliest deadline for a peer's request.
    var nextDeadline: BootInstant? { peers.values.compactMap(\.deadline).min() }

    /// Adds a peer. If each peer has one request, a new peer may replace the one that has been silent the longest. The
    /// bytes that the silent peer has sent by now are taken first: it keeps its place if its request is complete.
    ///
    /// - Returns: Whether there is a place, and the requests that were complete.
    mutating func add(
        _ connection: StreamConnection, until deadline: BootInstant
    ) -> (hasPlace: Bool, requests: [Request]) {
        var requests: [Request] = []
        while peers.count >= rules.peerCount {
            guard !rules.isPersistent, let silent = firstSilent else { return (false, requests) }
            if let request = hear(silent) { requests.append(request) } else { peers[silent] = nil }
        }
        count += 1
        peers[count] = Peer(connection: connection, deadline: deadline)
        return (true, requests)
    }

    /// The peer that came first among those without a complete request.
    private var firstSilent: Int? { peers.filter { $0.value.deadline != nil }.keys.min() }

    /// Takes what a peer has sent.
    ///
    /// - Returns: Its request, if it is complete.
    mutating func hear(_ key: Int) -> Request? {
        guard let peer = peers[key] else { return nil }
        let room = rules.requestByteCount + rules.terminator.count - peer.received.count
        switch peer.connection.receive(upTo: max(1, room)) {
        case .nothing: return nil
        case .end:
            peers[key] = nil
            return nil
        case .bytes(let bytes):
            peers[key]?.received += bytes
            return request(of: key)
        }
    }

    /// Gives a peer its answer.
    ///
    /// - Returns: Its next request, if it has sent that already.
    mutating func answer(_ key: Int, _ bytes: [UInt8], next deadline: BootInstant) -> Request? {
        guard let peer = peers[key] else { return nil }
        guard peer.connection.send(bytes), rules.isPersistent else {
            peers[key] = nil
            return nil
        }
        peers[key]?.deadline = deadline
        return request(of: key)
    }

    /// Drops the peers with a deadline that has passed.
    mutating func dropLate(at now: BootInstant) {
        peers = peers.filter { peer in peer.value.deadline.map { $0 > now } ?? true }
    }

    private mutating func request(of key: Int) -> Request? {
        guard let peer = peers[key] else { return nil }
        guard let end = peer.received.firstRange(of: rules.terminator) else {
            if peer.received.count >= rules.requestByteCount + rules.terminator.count {
                _ = peer.connection.send(rules.tooLong)
                peers[key] = nil
            }
            return nil
        }
        peers[key]?.received.removeSubrange(..<end.upperBound)
        peers[key]?.deadline = nil
        return Request(peer: key, bytes: Array(peer.received[..<end.lowerBound]))
    }
}
