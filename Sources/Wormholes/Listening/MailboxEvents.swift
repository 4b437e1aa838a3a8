public import CoreAPI
internal import Mailboxes

/// The events of one mailbox, for one listener.
///
/// A listener is a position in the order, not a buffer: a slow one costs no memory and delays no sender; it receives
/// the number of events it missed. Every message and clearing that the ``OriginFilter`` admits is either an element or
/// counted in a ``MailboxEvent/lagged(_:)``. That count includes events of other origins.
///
/// The sequence has one consumer at a time, and ends when it is cancelled or the group is closed. Releasing the last
/// reference cancels it.
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

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> MailboxEvent<Message>? {
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

/// An event of a mailbox.
///
/// Source: contract M3, M4.
public enum MailboxEvent<Message: Sendable>: Sendable {
    /// A message was sent, possibly equal to the message before it.
    case message(MailboxMessage<Message>)
    /// The content of the mailbox was removed, at a revision and by a session: it was cleared, or the message of a
    /// mailbox that keeps the last one has expired.
    case cleared(Revision, by: SessionID)
    /// A message was sent that cannot be read here. The next one may be readable.
    case undecodable(DecodingFailure, Revision, by: SessionID)
    /// The listener was too slow and missed this number of messages and clearings. The present state follows.
    case lagged(UInt64)
}

extension MailboxEvent: Equatable where Message: Equatable {}

extension MailboxEvent: Hashable where Message: Hashable {}

/// A message, with its revision and sender.
public struct MailboxMessage<Message: Sendable>: Sendable {
    /// The message that was sent.
    public let value: Message
    /// The commit that stored it.
    public let revision: Revision
    /// The session that sent it.
    public let origin: SessionID

    init(_ value: Message, revision: Revision, origin: SessionID) {
        self.value = value
        self.revision = revision
        self.origin = origin
    }
}

extension MailboxMessage: Equatable where Message: Equatable {}

extension MailboxMessage: Hashable where Message: Hashable {}

/// Handlers instead of a loop. Calls of one handler never overlap, and the registration ends when it is released. An
/// error of the store ends it as well; a caller that must learn of it uses the loop.
extension MailboxEvents {
    /// Calls a handler for each event, on no particular thread.
    public func handle(using handler: @escaping @Sendable (MailboxEvent<Message>) -> Void) -> MailboxToken {
        handled(by: .anywhere(handler))
    }

    /// Calls a handler for each event, on the main actor.
    public func handle(
        onMain handler: @escaping @MainActor @Sendable (MailboxEvent<Message>) -> Void
    ) -> MailboxToken {
        handled(by: .main(handler))
    }

    /// Calls a handler for each event, on an actor.
    public func handle<Host: Actor>(
        on host: Host, using handler: @escaping @Sendable (isolated Host, MailboxEvent<Message>) -> Void
    ) -> MailboxToken {
        handled(by: .on(host, handler))
    }

    private func handled(by handler: Handler<MailboxEvent<Message>>) -> MailboxToken {
        let gate = HandlerGate()
        // The task references the iterator and not the sequence, so that releasing the token releases the sequence, and
        // that ends the task.
        Task { [start] in
            var events = start
            while let event = try? await events.next(), await handler.call(event, gate) {}
        }
        return MailboxToken(gate) { self.cancel() }
    }
}

/// A handler that is called for the events of one mailbox, until it is cancelled.
///
/// Releasing the last reference cancels it.
///
/// Source: contract M4.
public final class MailboxToken: Sendable {
    private let gate: HandlerGate
    private let stop: @Sendable () -> Void

    /// Makes the token of a handler.
    ///
    /// - Parameter stop: Ends the sequence of the handler, and keeps the sequence alive until then.
    init(_ gate: HandlerGate, stop: @escaping @Sendable () -> Void) {
        self.gate = gate
        self.stop = stop
    }

    deinit {
        gate.closeWithoutWaiting()
        stop()
    }

    /// Cancels the handler: after this has returned, it neither starts nor runs. Idempotent.
    ///
    /// It waits for a handler that runs on another thread at this moment, so a handler must not wait for the caller.
    /// Handlers may call it as well, for themselves and for each other; then it does not wait: the call that is running
    /// is the last.
    public func cancel() {
        gate.close()
        stop()
    }
}
