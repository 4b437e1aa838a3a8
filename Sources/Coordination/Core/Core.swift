/// The expensive part of an application, of which only one runs at a time: a SIP or a messaging stack.
///
/// A core is started by whoever owns, works until told otherwise, and hands over each message that it receives. The
/// three calls come in this order and never at once. They run on the concurrent pool; a core that blocks does so on a
/// thread of its own.
public protocol Core: Sendable {
    /// Connects. Throwing gives up ownership.
    func start(in context: CoreContext) async throws

    /// Works until the task is cancelled: receives, hands each message over with ``CoreContext/deliver(_:)``, and
    /// acknowledges it to its server only after that call has returned.
    func iterate(in context: CoreContext) async throws

    /// Disconnects. Called after `iterate` has returned, and also after a `start` that threw.
    func stop() async
}
