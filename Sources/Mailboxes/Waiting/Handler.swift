/// A handler and where it is called.
package struct Handler<Input: Sendable>: Sendable {
    /// Calls the handler through a gate, and tells whether the gate was open.
    package let call: @Sendable (Input, HandlerGate) async -> Bool

    /// A handler that is called on no particular thread.
    package static func anywhere(_ handler: @escaping @Sendable (Input) -> Void) -> Handler {
        Handler { input, gate in gate.run { handler(input) } }
    }

    /// A handler that is called on the main actor.
    package static func main(_ handler: @escaping @MainActor @Sendable (Input) -> Void) -> Handler {
        Handler { @MainActor input, gate in gate.run { handler(input) } }
    }

    /// A handler that is called on an actor.
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
