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

    /// A hub serves under a name; gives the number of its run.
    func begin(_ name: String) -> UInt64 {
        let (run, listeners) = state.withLock { state in
            let run = state.number()
            state.runs[name] = run
            return (run, Array((state.listeners[name] ?? [:]).values))
        }
        for listener in listeners { listener() }
        return run
    }

    /// A run is over. What is there of another one, which may follow already, stays.
    func end(_ run: UInt64, of name: String) {
        let listeners = state.withLock { state -> [@Sendable () -> Void] in
            guard state.runs[name] == run else { return [] }
            state.runs[name] = nil
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

    /// Whether somebody listens to a name.
    func isListened(to name: String) -> Bool {
        state.withLock { $0.listeners[name] != nil }
    }

    func forget(_ number: UInt64, of name: String) {
        state.withLock { state in
            state.listeners[name]?[number] = nil
            if state.listeners[name]?.isEmpty == true { state.listeners[name] = nil }
        }
    }
}
