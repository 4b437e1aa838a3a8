internal import CoreAPI

/// What happens in one mailbox, for one listener.
///
/// A listener is a place in the order, not a buffer: a slow one costs no memory and holds up nobody; it is told how many
/// it was passed over. Every message and clearing is either an element or counted in a ``MailboxEvent/lagged(_:)``. It
/// has one consumer at a time, and ends when it is cancelled or the group is closed. Letting go of the last reference
/// cancels it.
///
/// Source: contract M3, M4.
public final class MailboxEvents<Message: Sendable>: AsyncSequence, Sendable {
    public typealias Element = MailboxEvent<Message>
    public typealias Failure = WormholeError

    let start: Iterator
    private let watch: Watch

    init(_ reader: MailboxReader, as type: MessageType<Message>, from filter: OriginFilter, own: SessionID) {
        start = Iterator(reader: reader, type: type, filter: filter, own: own)
        watch = reader.watch
    }

    deinit {
        watch.cancel()
    }

    /// Ends the sequence at once. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        start
    }

    /// Takes events from the sequence that made it.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        var reader: MailboxReader
        let type: MessageType<Message>
        let filter: OriginFilter
        let own: SessionID

        public mutating func next() async throws(WormholeError) -> MailboxEvent<Message>? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> MailboxEvent<Message>? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(WormholeError) -> MailboxEvent<Message>? {
            do throws(SharedCoreError) {
                while let event = try await reader.next() {
                    if case .lagged(let count) = event.content { return .lagged(count) }
                    if filter.admits(event.origin, for: own) { return typed(event) }
                }
                return nil
            } catch {
                throw WormholeError(error)
            }
        }

        private func typed(_ event: StoredEvent) -> MailboxEvent<Message> {
            switch event.content {
            case .lagged(let count): return .lagged(count)
            case .cleared: return .cleared(event.revision, by: event.origin)
            case .message(let bytes):
                switch type.message(in: bytes) {
                case .success(let value):
                    return .message(MailboxMessage(value, revision: event.revision, origin: event.origin))
                case .failure(let problem): return .undecodable(problem, event.revision, by: event.origin)
                }
            }
        }
    }
}
