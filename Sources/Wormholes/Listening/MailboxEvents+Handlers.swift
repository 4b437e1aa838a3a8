internal import Mailboxes

/// Handlers in place of a loop. Calls of one handler never overlap, and the registration ends when it is let go of. An
/// error of the store ends it as well; whoever wants to know of it writes the loop.
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
        // It knows the place in the order, not this object, so that letting go of the token ends it.
        Task { [start] in
            var events = start
            while let event = try? await events.next(), await handler.call(event, gate) {}
        }
        return MailboxToken(gate) { self.cancel() }
    }
}
