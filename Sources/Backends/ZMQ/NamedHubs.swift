internal import Synchronization

/// The hubs of this process, which clients reach by a name within it.
///
/// The library reports no connections within a process, and does not reconnect there. So a hub reports here when it
/// serves and when it has ended, and its clients listen here.
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

    /// Returns the run of the hub that serves under a name, a number that no other run has; nil when there is none.
    func run(of name: String) -> UInt64? {
        state.withLock { $0.runs[name] }
    }

    /// Registers a hub under a name; returns the number of its run.
    func begin(_ name: String) -> UInt64 {
        let (run, listeners) = state.withLock { state in
            let run = state.number()
            state.runs[name] = run
            return (run, Array((state.listeners[name] ?? [:]).values))
        }
        for listener in listeners { listener() }
        return run
    }

    /// Removes a run that has ended. Another run under the name, which may have followed already, stays.
    func end(_ run: UInt64, of name: String) {
        let listeners = state.withLock { state -> [@Sendable () -> Void] in
            guard state.runs[name] == run else { return [] }
            state.runs[name] = nil
            return Array((state.listeners[name] ?? [:]).values)
        }
        for listener in listeners { listener() }
    }

    /// Calls a listener whenever ``run(of:)`` has changed, until the returned number is forgotten.
    func listen(to name: String, _ listener: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let number = state.number()
            state.listeners[name, default: [:]][number] = listener
            return number
        }
    }

    /// Returns whether a name has listeners.
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
