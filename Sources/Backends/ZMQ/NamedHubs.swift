internal import Synchronization

/// The hubs of this process that are reached by a name within it.
///
/// The library reports no connections there, and connects nobody again. So a hub says itself when it serves and when it
/// has ended, and its clients hear of it here.
final class NamedHubs: Sendable {
    static let shared = NamedHubs()

    private struct State {
        var lastNumber: UInt64 = 0
        /// The run of the hub that serves under a name.
        var runs: [String: UInt64] = [:]
        var listeners: [String: [UInt64: @Sendable () -> Void]] = [:]

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// The hub that serves under a name, by a number that no other one has; nil when there is none.
    func run(of name: String) -> UInt64? {
        state.withLock { $0.runs[name] }
    }

    /// A hub serves under a name, or does not any more.
    func set(_ name: String, isServing: Bool) {
        let listeners = state.withLock { state in
            state.runs[name] = isServing ? state.number() : nil
            return Array((state.listeners[name] ?? [:]).values)
        }
        for listener in listeners { listener() }
    }

    /// Calls a listener whenever ``run(of:)`` has changed, until it is told to forget the number that it gives.
    func listen(to name: String, _ listener: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let number = state.number()
            state.listeners[name, default: [:]][number] = listener
            return number
        }
    }

    func forget(_ number: UInt64, of name: String) {
        state.withLock { state in
            state.listeners[name]?[number] = nil
            if state.listeners[name]?.isEmpty == true { state.listeners[name] = nil }
        }
    }
}
