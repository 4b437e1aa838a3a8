internal import CZMQ
internal import Glibc

/// A peer that tries to end a hub by the names that it chooses for its connections:
/// `<endpoint> <how many a second> [<secret key> <public key> <hub's public key>]`.
///
/// libzmq gives a connection without a name one of five bytes: a zero and a number that rises. Here connections choose the
/// next of those numbers and others without a name follow. Names of random bytes come between. The peer says after
/// each 100 connections how many there were.
struct RoutingNames {
    /// How many numbers of each sequence one block of connections takes, and how many connections without a name
    /// follow.
    private static let blockCount: UInt32 = 12

    private let endpoint: String
    private let perSecond: Int
    private let keys: [String]
    private let context = zmq_ctx_new()
    private let request: [UInt8] = [1]
    /// The open sockets, the oldest first.
    private var sockets: [UnsafeMutableRawPointer] = []
    private var count = 0
    private let begin = Self.now()

    init?(_ words: [String]) {
        guard words.count == 2 || words.count == 5, let perSecond = Int(words[1]), perSecond > 0 else { return nil }
        endpoint = words[0]
        self.perSecond = perSecond
        keys = Array(words.dropFirst(2))
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4_096)
    }

    /// The first values that those numbers may have: each socket draws two of those that `rand()` gives in a process
    /// that has set no seed.
    private static let firstNumbers: [UInt32] = {
        srandom(1)
        return (0..<6).map { _ in
            let (low, high) = (UInt32(truncatingIfNeeded: random()), UInt32(truncatingIfNeeded: random()))
            return low | high << 31
        }
    }()

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Runs until it is killed.
    mutating func run() {
        for block in 0... as PartialRangeFrom<UInt32> {
            for number in 0..<Self.blockCount {
                for first in Self.firstNumbers {
                    let next = first &+ block &* Self.blockCount &+ number
                    connect(as: [0] + withUnsafeBytes(of: next.bigEndian) { Array($0) })
                }
                connect(as: (0..<Int.random(in: 1...255)).map { _ in .random(in: 0...255) })
            }
            for _ in 0..<Self.blockCount { connect(as: []) }
        }
    }

    private mutating func connect(as name: [UInt8]) {
        let due = begin + Double(count) / Double(perSecond)
        let wait = due - Self.now()
        if wait > 0 { usleep(UInt32(wait * 1e6)) }
        count += 1
        if count.isMultiple(of: 100) {
            print(count)
            fflush(nil)
        }
        // More than one block stays open, so that the names are taken when the connections without a name come.
        if sockets.count == 200 { zmq_close(sockets.removeFirst()) }
        guard let socket = zmq_socket(context, ZMQ_DEALER) else { return }
        var linger: Int32 = 0
        zmq_setsockopt(socket, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        if !name.isEmpty { zmq_setsockopt(socket, ZMQ_ROUTING_ID, name, name.count) }
        if keys.count == 3 {
            for (option, key) in zip([ZMQ_CURVE_SECRETKEY, ZMQ_CURVE_PUBLICKEY, ZMQ_CURVE_SERVERKEY], keys) {
                zmq_setsockopt(socket, option, key, key.utf8.count)
            }
        }
        zmq_connect(socket, endpoint)
        zmq_send(socket, request, request.count, ZMQ_DONTWAIT)
        sockets.append(socket)
    }
}
