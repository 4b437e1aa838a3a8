internal import Platform
internal import Synchronization

/// A socket at a path that passes the bytes of each connection on to a server's socket, and back, and can cut and delay them.
package final class FaultyConnection: Sendable {
    private struct Fault {
        var isCut = false
        /// How much later the bytes of the server are passed on.
        var delay = Duration.zero
        var isOver = false
    }

    private let fault = Mutex(Fault())
    private let changed: EventCounter

    /// - Parameters:
    ///   - path: Where it listens.
    ///   - server: The path of the server's socket.
    package init(at path: String, to server: String) throws {
        let listener = try StreamListener(path: path)
        changed = try EventCounter()
        try OwnedThread.start("faulty connection") { [changed, weak self] in
            var passage = Passage(listener: listener, server: server, changed: changed)
            while let fault = self?.fault.withLock({ $0 }), !fault.isOver {
                passage.wait(isCut: fault.isCut)
                // Pass bytes on under the lock, so that no byte passes after `cut` has returned.
                self?.fault.withLock { if !$0.isCut { passage.pass(delay: $0.delay) } }
            }
        }
    }

    deinit {
        changed.raise()
    }

    package func cut(_ isCut: Bool) { change { $0.isCut = isCut } }

    package func delay(by time: Duration) { change { $0.delay = time } }

    package func end() { change { $0.isOver = true } }

    private func change(_ change: (inout Fault) -> Void) {
        fault.withLock { change(&$0) }
        changed.raise()
    }
}

/// The connections, as its thread has them.
private struct Passage {
    /// The bytes that one end has sent and the other does not have yet.
    private struct Way {
        let source: StreamConnection
        let target: StreamConnection
        let isDelayed: Bool
        var pieces: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
        /// True if the source has closed.
        var isAtEnd = false

        /// Receives and sends as many bytes as possible.
        ///
        /// - Returns: False when the connection has ended.
        mutating func pass(delay: Duration) -> Bool {
            while !isAtEnd {
                switch source.receive(upTo: 64 << 10) {
                case .bytes(let bytes): pieces.append((.now.advanced(by: isDelayed ? delay : .zero), bytes))
                case .nothing: return give()
                case .end: isAtEnd = true
                }
            }
            return give()
        }

        private mutating func give() -> Bool {
            while let (due, bytes) = pieces.first, due <= .now {
                guard let sent = bytes.withUnsafeBytes({ target.sendSome($0) }) else { return false }
                pieces[0].bytes.removeFirst(sent)
                guard pieces[0].bytes.isEmpty else { return true }
                pieces.removeFirst()
            }
            return !(isAtEnd && pieces.isEmpty)
        }
    }

    let listener: StreamListener
    let server: String
    let changed: EventCounter
    private var ways: [(forth: Way, back: Way)] = []

    init(listener: StreamListener, server: String, changed: EventCounter) {
        self.listener = listener
        self.server = server
        self.changed = changed
    }

    /// Waits for something to do.
    func wait(isCut: Bool) {
        var descriptors = [(descriptor: changed.descriptor, events: Poll.readable)]
        var timeout: Duration?
        if !isCut {
            descriptors.append((listener.descriptor, Poll.readable))
            for (forth, back) in ways {
                for way in [forth, back] {
                    if !way.isAtEnd { descriptors.append((way.source.descriptor, Poll.readable)) }
                    guard let due = way.pieces.first?.due else { continue }
                    let left = ContinuousClock.now.duration(to: due)
                    if left > .zero {
                        timeout = min(timeout ?? left, left)
                    } else {
                        descriptors.append((way.target.descriptor, Poll.writable))
                    }
                }
            }
        }
        // A return without events is harmless.
        _ = try? Poll.events(of: descriptors, timeout: timeout)
        changed.clear()
    }

    /// Passes on all bytes that are available now. Does not block.
    mutating func pass(delay: Duration) {
        while let connection = try? listener.accept() {
            // If the server does not exist, the connection ends.
            guard let end = try? StreamConnection(to: server) else { continue }
            ways.append(
                (
                    forth: Way(source: connection, target: end, isDelayed: false),
                    back: Way(source: end, target: connection, isDelayed: true)
                ))
        }
        for index in ways.indices.reversed() {
            let isOpen = ways[index].forth.pass(delay: delay)
            if !ways[index].back.pass(delay: delay) || !isOpen { ways.remove(at: index) }
        }
    }
}
