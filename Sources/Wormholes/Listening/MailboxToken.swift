internal import Mailboxes

/// A handler that is called for what happens in one mailbox, until it is cancelled.
///
/// Letting go of the last reference cancels it.
///
/// Source: contract M4.
public final class MailboxToken: Sendable {
    private let gate: HandlerGate
    private let stop: @Sendable () -> Void

    /// - Parameter stop: Ends the sequence that the handler is called for, and keeps it until then.
    init(_ gate: HandlerGate, stop: @escaping @Sendable () -> Void) {
        self.gate = gate
        self.stop = stop
    }

    deinit {
        gate.closeWithoutWaiting()
        stop()
    }

    /// Ends it: once this has returned, the handler neither starts nor runs. Idempotent.
    ///
    /// It waits for a handler that runs on another thread at this moment, so a handler must not wait for whoever cancels.
    /// Handlers may call it as well, for themselves and for each other; then it does not wait: the call that is running is
    /// the last.
    public func cancel() {
        gate.close()
        stop()
    }
}
