internal import CoreAPI

/// A number in a group's store.
struct SharedCounter {
    private static let key: Key = "counter"

    let store: any SharedStore

    /// Adds one, also beside other writers. Gives the sum.
    func addOne() async throws(SharedCoreError) -> Int {
        while true {
            let entry = try await store.get(Self.key)
            let sum = Self.number(in: entry) + 1
            let unchanged: Transaction.Guard = entry.map { .revision(Self.key, $0.revision) } ?? .absent(Self.key)
            do throws(SharedCoreError) {
                try await store.put(Self.key, Array(String(sum).utf8), if: unchanged)
                return sum
            } catch {
                // Another process wrote since the read: read again.
                guard error.code == .guardFailed else { throw error }
            }
        }
    }

    /// The number as it stands.
    func number() async throws -> Int {
        Self.number(in: try await store.get(Self.key))
    }

    /// Tells the number as it stands, then each new one, until the handle is closed.
    func follow(_ tell: (Int) -> Void) async throws {
        let watch = try await store.watch([KeyPrefix(Self.key)], from: .snapshot)
        while let event = try await watch.next() {
            switch event {
            case .snapshot(let snapshot), .lagged(let snapshot): tell(Self.number(in: snapshot.entries.first))
            case .changes(let changes): for change in changes.changes { tell(Self.number(in: change.new)) }
            }
        }
    }

    /// A missing entry counts as zero.
    private static func number(in entry: Entry?) -> Int {
        entry.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
    }
}
