internal import UnixSignals

/// Receives SIGUSR1 from its creation on. The signal asks a program of a group for a new address.
package struct RenewalSignals: Sendable {
    private let signals: UnixSignalsSequence

    package init() async {
        signals = await UnixSignalsSequence(trapping: .sigusr1)
    }

    /// Calls a body at each, until its task is cancelled.
    package func each(_ body: () async throws -> Void) async throws {
        for await _ in signals { try await body() }
    }
}
