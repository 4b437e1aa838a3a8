internal import Synchronization

/// Allows a handler to run until the gate is closed: after ``close()`` has returned, the handler neither starts nor
/// runs.
///
/// Closing waits for a handler that is running on another thread, unless a handler calls it, whether its own or
/// another: two handlers that close each other's gates would deadlock. In that case no new call begins, and a running
/// call continues.
///
/// Source: contract N6.
package final class HandlerGate: Sendable {
    /// The tasks that are inside handlers, with the number of handlers. A task created by a handler is another one.
    private static let handling = Mutex<[Int: Int]>([:])

    /// The identity of the calling task; nil outside of tasks, where no handler is called.
    private static var caller: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private let isOpen = Atomic(true)
    private let running = Mutex(())

    package init() {}

    /// Runs a handler, unless the gate is closed.
    ///
    /// - Returns: Whether it ran.
    package func run(_ handler: () -> Void) -> Bool {
        running.withLock { _ in
            guard isOpen.load(ordering: .acquiring) else { return false }
            let caller = Self.caller
            if let caller { Self.handling.withLock { $0[caller, default: 0] += 1 } }
            handler()
            if let caller { Self.handling.withLock { $0[caller] = $0[caller].flatMap { $0 > 1 ? $0 - 1 : nil } } }
            return true
        }
    }

    /// Closes the gate. Idempotent.
    package func close() {
        isOpen.store(false, ordering: .releasing)
        let caller = Self.caller
        let isInsideHandler = caller.map { caller in Self.handling.withLock { $0[caller] != nil } } ?? false
        if !isInsideHandler { running.withLock { _ in } }
    }

    /// Closes the gate without waiting for a running handler.
    package func closeWithoutWaiting() {
        isOpen.store(false, ordering: .releasing)
    }
}

/// A handler, with the context in which it is called.
package struct Handler<Input: Sendable>: Sendable {
    /// Calls the handler through a gate, and returns whether the gate was open.
    package let call: @Sendable (Input, HandlerGate) async -> Bool

    /// Returns a handler that is called on no particular thread.
    package static func anywhere(_ handler: @escaping @Sendable (Input) -> Void) -> Handler {
        Handler { input, gate in gate.run { handler(input) } }
    }

    /// Returns a handler that is called on the main actor.
    package static func main(_ handler: @escaping @MainActor @Sendable (Input) -> Void) -> Handler {
        Handler { @MainActor input, gate in gate.run { handler(input) } }
    }

    /// Returns a handler that is called on an actor.
    package static func on<Host: Actor>(
        _ host: Host, _ handler: @escaping @Sendable (isolated Host, Input) -> Void
    ) -> Handler {
        Handler { input, gate in await host.call(handler, with: input, through: gate) }
    }
}

extension Actor {
    fileprivate func call<Input>(
        _ handler: @Sendable (isolated Self, Input) -> Void, with input: Input, through gate: HandlerGate
    ) -> Bool {
        gate.run { handler(self, input) }
    }
}
