internal import CoreAPI
internal import Synchronization

/// Calls a store and records the results for the ``LinearizabilityChecker``.
final class HistoryRecorder: Sendable {
    private let moment = Atomic(0)
    private let lastToken = Atomic(0)
    private let key: Key

    init(of key: Key) {
        self.key = key
    }

    /// Makes one random call.
    ///
    /// - Parameter known: The entry that the caller saw last, for its guards.
    func call(
        _ store: any SharedStore, known: inout Entry?, using random: inout SeededRandom
    ) async throws -> RegisterOperation {
        let began = moment.add(1, ordering: .sequentiallyConsistent).newValue
        let call: RegisterOperation.Call
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            _ = try await store.delete(key)
            call = .delete
        case 1, 2:
            let token = newToken()
            try await store.put(key, Self.value(token))
            call = .write(token)
        case 3:
            call = try await exchange(store, .absent(key), expected: nil)
        case 4, 5:
            if let entry = known {
                call = try await exchange(store, .revision(key, entry.revision), expected: Self.token(entry))
                break
            }
            fallthrough
        case 6:
            known = try await store.list(KeyPrefix(key)).entries.first
            call = .read(known.map(Self.token))
        default:
            known = try await store.get(key)
            call = .read(known.map(Self.token))
        }
        let ended = moment.add(1, ordering: .sequentiallyConsistent).newValue
        return RegisterOperation(call: call, began: began, ended: ended)
    }

    private func exchange(
        _ store: any SharedStore, _ condition: Transaction.Guard, expected: Int?
    ) async throws -> RegisterOperation.Call {
        let token = newToken()
        switch try await attempt({ try await store.put(self.key, Self.value(token), if: condition) }) {
        case .success:
            return .exchange(expected: expected, new: token, succeeded: true, found: nil)
        case .failure(let error):
            guard error.code == .guardFailed else { throw error }
            let found = error.guardFailure?.found.map(Self.token)
            return .exchange(expected: expected, new: token, succeeded: false, found: found)
        }
    }

    private func newToken() -> Int {
        lastToken.add(1, ordering: .relaxed).newValue
    }

    private static func value(_ token: Int) -> [UInt8] {
        withUnsafeBytes(of: token.littleEndian) { Array($0) }
    }

    private static func token(_ entry: Entry) -> Int {
        entry.value.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

/// One call on one key, with its result and the moments at which it began and ended.
///
/// Values are tokens that are never written twice, so that a guard on a revision is a comparison of tokens.
struct RegisterOperation: Sendable {
    /// The call, and its result.
    enum Call: Hashable, Sendable {
        /// A read and the token that it saw; nil when the key was absent.
        case read(Int?)
        /// An unconditional write.
        case write(Int)
        /// A deletion.
        case delete
        /// A write with the guard that the value is `expected`; nil for an absent key.
        case exchange(expected: Int?, new: Int, succeeded: Bool, found: Int?)
    }

    let call: Call
    /// A number drawn before the call began.
    let began: Int
    /// A number drawn after the call had returned.
    let ended: Int

    /// Returns the value after the call if `state` was the value before; the outer nil if the call cannot have returned
    /// its result then.
    func applied(to state: Int?) -> Int?? {
        switch call {
        case .read(let seen): seen == state ? .some(state) : .none
        case .write(let token): .some(token)
        case .delete: .some(nil)
        case .exchange(let expected, let new, true, _): expected == state ? .some(new) : .none
        case .exchange(let expected, _, false, let found):
            expected != state && found == state ? .some(state) : .none
        }
    }
}

/// Checks whether the history of concurrent calls on one key is linearizable: whether one order of the calls explains
/// all results, and keeps the order in time of calls that did not overlap.
///
/// The caller divides the history into windows at moments without a pending call. ``check(_:)`` searches each window
/// separately, from every state in which the previous windows can have ended. A window has at most 64 calls.
///
/// Source: Wing, Gong: Testing and Verifying Concurrent Objects, 1993; Lowe: Testing for Linearizability, 2017.
struct LinearizabilityChecker {
    /// The states in which the key can be now; empty if the history was not linearizable.
    private(set) var possibleStates: Set<Int?> = [nil]

    private struct Point: Hashable {
        let done: UInt64
        let state: Int?
    }

    /// Searches one more window.
    ///
    /// - Returns: Whether the history up to here is linearizable.
    mutating func check(_ window: [RegisterOperation]) -> Bool {
        precondition(window.count <= 64, "A window has at most 64 calls, this one has \(window.count).")
        let all: UInt64 = window.count == 64 ? .max : (1 << UInt64(window.count)) - 1
        // The calls that must precede each call, because they had ended when it began.
        let before = window.map { call in
            window.indices.reduce(into: UInt64(0)) { mask, other in
                if window[other].ended < call.began { mask |= 1 << UInt64(other) }
            }
        }
        var ends: Set<Int?> = []
        var seen: Set<Point> = []
        var open = possibleStates.map { Point(done: 0, state: $0) }
        while let point = open.popLast() {
            guard seen.insert(point).inserted else { continue }
            if point.done == all {
                ends.insert(point.state)
                continue
            }
            for index in window.indices {
                let bit: UInt64 = 1 << UInt64(index)
                guard point.done & bit == 0, before[index] & ~point.done == 0 else { continue }
                guard let next = window[index].applied(to: point.state) else { continue }
                open.append(Point(done: point.done | bit, state: next))
            }
        }
        possibleStates = ends
        return !ends.isEmpty
    }
}
