internal import Foundation
public import SIPMessages
internal import Synchronization

/// A connection with a thread that reads it. While its owner sleeps it is kept but not read: data stays in the socket,
/// and the thread only reports its arrival.
public final class Connection: Sendable {
    /// The events that the thread reports.
    public enum Event: Sendable {
        case message(Message)
        /// Bytes have come and stay unread, while the connection was kept.
        case unreadData
    }

    private struct State {
        /// Since when it is kept, as a number that is new every time; nil while it is read.
        var kept: Int?
        var changes = 0
        var isClosed = false
    }

    /// The events of the connection; the stream ends with it.
    public let events: AsyncStream<Event>

    private let socket: StreamSocket
    /// A pipe by which the thread is woken.
    private let wake = Pipe()
    private let state = Mutex(State())

    /// Connects, on a thread of its own. A cancelled task does not wait for it.
    public static func open(to server: ServerAddress) async throws -> Connection {
        let opening = Opening()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard opening.wait(continuation) else { return }
                Thread.detachNewThread {
                    let (events, tell) = AsyncStream.makeStream(of: Event.self)
                    do {
                        let socket = try StreamSocket.connect(to: server.host, port: server.port)
                        let connection = Connection(socket, events)
                        if opening.end(.success(connection)) { connection.run(tell) }
                    } catch {
                        opening.end(.failure(error))
                    }
                    tell.finish()
                }
            }
        } onCancel: {
            opening.end(.failure(CancellationError()))
        }
    }

    private init(_ socket: StreamSocket, _ events: AsyncStream<Event>) {
        self.socket = socket
        self.events = events
    }

    /// The address that packets leave from.
    public var localHost: String { socket.local.host }

    public func send(_ message: Message) throws {
        try socket.send(message.bytes)
    }

    /// Leaves arriving data in the socket from now on, or reads it again.
    public func keep(_ isKept: Bool) {
        state.withLock { state in
            state.changes += 1
            state.kept = isKept ? state.changes : nil
        }
        try? wake.fileHandleForWriting.write(contentsOf: [0])
    }

    public func close() {
        state.withLock { $0.isClosed = true }
        socket.shutDown()
        try? wake.fileHandleForWriting.write(contentsOf: [0])
    }

    private func run(_ tell: AsyncStream<Event>.Continuation) {
        var reader = MessageReader()
        var told: Int?
        while true {
            let (kept, isClosed) = state.withLock { ($0.kept, $0.isClosed) }
            if isClosed { return }
            guard wait(forData: kept == nil || kept != told) == .data else { continue }
            if let kept {
                tell.yield(.unreadData)
                told = kept
                continue
            }
            let bytes = socket.receive()
            guard !bytes.isEmpty, let messages = try? reader.read(bytes) else { return }
            for message in messages { tell.yield(.message(message)) }
        }
    }

    private enum Ready {
        case woken
        case data
    }

    private func wait(forData: Bool) -> Ready {
        let pipe = wake.fileHandleForReading
        var entries = [pollfd(fd: pipe.fileDescriptor, events: Int16(POLLIN), revents: 0)]
        if forData { entries.append(pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)) }
        guard poll(&entries, nfds_t(entries.count), -1) > 0 else { return .woken }
        if entries[0].revents != 0 {
            _ = pipe.availableData
            return .woken
        }
        return .data
    }
}
