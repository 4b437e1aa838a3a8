internal import CoreAPI
internal import Synchronization

/// Calls a store and writes down what it returned, for ``LinearizabilityChecker``.
final class HistoryRecorder: Sendable {
    private let moment = Atomic(0)
    private let lastToken = Atomic(0)
    private let key: Key

    init(of key: Key) {
        self.key = key
    }

    /// Makes one random call.
    ///
    /// - Parameter known: The entry that the caller saw last, for its conditions.
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
