internal import CoreAPI
internal import InMemoryBackend
internal import StoreEngine

/// The values that the figures are measured with.
enum Journey {
    static let value = [UInt8](repeating: 118, count: 256)

    /// A state with one session.
    static func state() -> (StoreState, SessionID) {
        var state = StoreState()
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        state.apply(
            state.opening(
                SessionOpening(process: process, description: SessionDescription(role: .tool, name: "bench")),
                at: BootInstant(nanoseconds: 1)))
        return (state, state.sessions.keys.first ?? SessionID(rawValue: 0))
    }

    /// The record of a put.
    static var payload: [UInt8] {
        let (state, session) = state()
        guard let key = try? Key("bench/key"),
            case .record(let effect, _)? = try? state.decide(
                Transaction(operations: [.put(key, value, .persistent)]), of: session, at: BootInstant(nanoseconds: 2)),
            let payload = try? effect.payload()
        else { return [] }
        return payload
    }

    static func memory() async throws -> MemoryGroup {
        try await MemorySpace().open("bench", as: SessionDescription(role: .tool, name: "bench"))
    }
}
