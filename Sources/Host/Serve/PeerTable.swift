internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The peers of a server, each with the bytes of its next request, the unsent bytes of its answer, and its deadline.
struct PeerTable {
    /// A complete request.
    struct Request: Sendable {
        let peer: Int
        /// The bytes of the request. They include the terminator only if a body follows it.
        let bytes: [UInt8]
    }

    private struct Peer {
        let connection: StreamConnection
        var stage = Stage.asking
        var received: RequestBuffer
        /// The bytes of its answer that the kernel has not accepted.
        var unsent: [UInt8] = []
        /// When the peer's time for a request or for accepting unsent bytes ends; nil while the server waits for
        /// neither.
        var deadline: BootInstant?
    }

    private enum Stage {
        /// The request of the peer is not complete.
        case asking
        /// The request of the peer is being answered.
        case answering
        /// The answer is complete; only its unsent bytes remain to be sent.
        case leaving
        /// The answer to the peer is a stream, which lasts until the peer has disconnected.
        case streaming
    }

    private let rules: RequestServer.Rules
    private var peers: [Int: Peer] = [:]
    private var count = 0
    private var endedStreams: [Int] = []

    init(rules: RequestServer.Rules) {
        self.rules = rules
    }

    /// The events to wait for, by peer.
    var interests: [(key: Int, descriptor: Int32, events: Int16)] {
        peers.compactMap { key, peer in
            // A peer with a stream sends nothing: reading only detects that it has disconnected.
            let events =
                (peer.stage == .asking || peer.stage == .streaming ? Poll.readable : 0)
                | (peer.unsent.isEmpty ? 0 : Poll.writable)
            return events == 0 ? nil : (key, peer.connection.descriptor, events)
        }
    }

    /// The earliest deadline for a peer's request.
    var nextDeadline: BootInstant? { peers.values.compactMap(\.deadline).min() }

    /// Adds a peer. If each peer has one request, a new peer may replace the one that has been silent the longest. The
    /// bytes that the silent peer has sent by now are read first, so it keeps its place if they complete its request.
    ///
    /// - Returns: True if the peer was added, and the complete requests.
    mutating func add(
        _ connection: StreamConnection, until deadline: BootInstant
    ) -> (hasPlace: Bool, requests: [Request]) {
        var requests: [Request] = []
        while peers.count >= rules.peerCount {
            guard !rules.isPersistent, let silent = firstSilent else { return (false, requests) }
            if let request = hear(silent) { requests.append(request) } else { remove(silent) }
        }
        count += 1
        let received = RequestBuffer(
            terminator: rules.terminator, maximumByteCount: rules.requestByteCount, bodyByteCount: rules.bodyByteCount)
        peers[count] = Peer(connection: connection, received: received, deadline: deadline)
        return (true, requests)
    }

    /// The peer that came first among those without a complete request.
    private var firstSilent: Int? { peers.filter { $0.value.stage == .asking }.keys.min() }

    /// Returns the peers with streams that have gone since the last call.
    mutating func takeEndedStreams() -> [Int] {
        defer { endedStreams = [] }
        return endedStreams
    }

    private mutating func remove(_ key: Int) {
        if peers.removeValue(forKey: key)?.stage == .streaming { endedStreams.append(key) }
    }

    /// Reads a peer's bytes, and sends unsent bytes.
    ///
    /// - Parameters:
    ///   - events: The events that the kernel reported.
    ///   - deadline: The end of its time for the next unsent byte.
    /// - Returns: Its request, if it is complete.
    mutating func serve(_ key: Int, _ events: Int16, until deadline: BootInstant) -> Request? {
        switch peers[key]?.stage {
        case .asking: return hear(key)
        case .streaming where events & ~Poll.writable != 0:
            switch peers[key]?.connection.receive(upTo: Self.ignoredByteCount) {
            case .end, nil: remove(key)
            case .bytes, .nothing: break
            }
        case .streaming, .leaving, .answering, nil: break
        }
        if peers[key]?.unsent.isEmpty == false { flush(key, until: deadline) }
        return nil
    }

    /// The number of bytes to read at once after a request, which are dropped.
    private static let ignoredByteCount = 4 << 10

    /// Reads the bytes that a peer has sent.
    ///
    /// - Returns: Its request, if it is complete.
    mutating func hear(_ key: Int) -> Request? {
        guard let peer = peers[key] else { return nil }
        switch peer.connection.receive(upTo: peer.received.capacity) {
        case .nothing: return nil
        case .end:
            remove(key)
            return nil
        case .bytes(let bytes):
            peers[key]?.received.append(bytes)
            return request(of: key)
        }
    }

    /// Sends a peer its answer, or more of its stream.
    ///
    /// - Parameter deadline: The end of its time for the next request, or for the next unsent byte.
    /// - Returns: Its next request, if it has sent that already.
    mutating func answer(_ key: Int, _ answer: RequestServer.Answer, next deadline: BootInstant) -> Request? {
        guard let peer = peers[key] else { return nil }
        guard rules.unsentByteCount == 0 else {
            peers[key]?.stage = answer.isStream ? .streaming : .leaving
            guard answer.bytes.count <= rules.unsentByteCount - peer.unsent.count else {
                remove(key)
                return nil
            }
            peers[key]?.unsent += answer.bytes
            flush(key, until: deadline)
            return nil
        }
        guard peer.connection.send(answer.bytes), rules.isPersistent else {
            remove(key)
            return nil
        }
        peers[key]?.stage = .asking
        peers[key]?.deadline = deadline
        return request(of: key)
    }

    /// Sends as many unsent bytes as the kernel accepts. After the last byte of an answer that ends the connection,
    /// removes the peer.
    private mutating func flush(_ key: Int, until deadline: BootInstant) {
        guard let peer = peers[key] else { return }
        var done = 0
        while done < peer.unsent.count {
            guard let sent = peer.unsent[done...].withUnsafeBytes({ peer.connection.sendSome($0) }) else {
                return remove(key)
            }
            if sent == 0 { break }
            done += sent
        }
        if done == peer.unsent.count {
            peers[key]?.unsent = []
            peers[key]?.deadline = nil
            if peer.stage == .leaving { remove(key) }
        } else {
            peers[key]?.unsent.removeFirst(done)
            if done > 0 || peer.deadline == nil { peers[key]?.deadline = deadline }
        }
    }

    /// Drops the peers with a deadline that has passed.
    mutating func dropLate(at now: BootInstant) {
        for (key, peer) in peers { if let deadline = peer.deadline, deadline <= now { remove(key) } }
    }

    private mutating func request(of key: Int) -> Request? {
        // The body must arrive within the same deadline as the rest of the request.
        switch peers[key]?.received.next() {
        case .request(let bytes):
            peers[key]?.deadline = nil
            peers[key]?.stage = .answering
            return Request(peer: key, bytes: bytes)
        case .tooLong:
            _ = peers[key]?.connection.send(rules.tooLong)
            remove(key)
            return nil
        case .incomplete, nil: return nil
        }
    }
}
