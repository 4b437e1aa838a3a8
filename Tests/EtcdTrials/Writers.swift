#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Synchronization

    /// Participants that commit without a pause, and note the answer to each commit.
    final class Writers: Sendable {
        private struct Notes {
            var taken: [Key: Revision] = [:]
            var refused: Set<Key> = []
            var unknown: Set<Key> = []
            var failure: String?
        }

        private let notes = Mutex(Notes())
        private let isOver = Atomic(false)
        private let tasks = Mutex<[Task<Void, Never>]>([])
        let handles: [EtcdGroup]

        init(_ handles: [EtcdGroup]) {
            self.handles = handles
            for (number, handle) in handles.enumerated() {
                let task = Task { await self.write(number, with: handle) }
                tasks.withLock { $0.append(task) }
            }
        }

        var takenCount: Int { notes.withLock { $0.taken.count } }
        var refusedCount: Int { notes.withLock { $0.refused.count } }
        var unknownCount: Int { notes.withLock { $0.unknown.count } }
        var doubtCount: Int { notes.withLock { $0.refused.count + $0.unknown.count } }

        /// Waits until that many more commits were taken.
        func goOn(by count: Int = 50) async throws {
            let before = takenCount
            try await eventually("\(count) more commits") {
                if let failure = notes.withLock({ $0.failure }) { throw TrialFailure(description: failure) }
                return takenCount >= before + count
            }
        }

        /// Lets the writers end, and compares the answers with the entries in the store.
        func judge(with reader: EtcdGroup) async throws -> String {
            isOver.store(true, ordering: .releasing)
            for task in tasks.withLock({ $0 }) { await task.value }
            let entries = try await reader.list("w").entries
            let standing = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.revision) })
            let notes = notes.withLock { $0 }
            if let failure = notes.failure { throw TrialFailure(description: failure) }
            for (key, revision) in notes.taken {
                try expect(
                    standing[key] == revision,
                    "\(key) was taken at \(revision), and stands at \(standing[key]?.description ?? "nothing")")
            }
            for key in notes.refused { try expect(standing[key] == nil, "\(key) was refused, and stands there") }
            for key in standing.keys {
                try expect(notes.taken[key] != nil || notes.unknown.contains(key), "nobody was told of \(key)")
            }
            let count = try await reader.state(of: "written").count
            try expect(Int(count) == standing.count, "\(count) posts and \(standing.count) entries of the same commits")
            return "\(notes.taken.count) taken, \(notes.refused.count) refused, \(notes.unknown.count) unknown"
        }

        private func write(_ writer: Int, with handle: EtcdGroup) async {
            var number = 0
            while !isOver.load(ordering: .acquiring) {
                number += 1
                guard let key = try? Key("w/\(writer)/\(number)") else { return }
                do throws(SharedCoreError) {
                    let commit = try await handle.commit(
                        Transaction(
                            guards: [.absent(key)],
                            operations: [.put(key, [1], .persistent), .post("written", state: nil)]))
                    notes.withLock { $0.taken[key] = commit.revision }
                } catch {
                    switch error.code {
                    case .outcomeUnknown: notes.withLock { _ = $0.unknown.insert(key) }
                    case .unavailable: notes.withLock { _ = $0.refused.insert(key) }
                    default:
                        notes.withLock { $0.failure = "writer \(writer): \(error)" }
                        return
                    }
                }
            }
        }
    }
#endif
