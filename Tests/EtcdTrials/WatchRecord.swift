#if Etcd
    internal import CoreAPI
    internal import Synchronization

    /// The record of a watch: every change applied, and each breach of its rules noted.
    final class WatchRecord: Sendable {
        fileprivate struct Content {
            var entries: [Key: Entry] = [:]
            var revision = Revision.zero
            var laggedCount = 0
            var endedSessionKeys: [Key] = []
            var breach: String?
        }

        private let content = Mutex(Content())
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ watch: Watch) {
            let task = Task {
                do {
                    for try await event in watch { self.take(event) }
                } catch {
                    self.content.withLock { $0.breach = "the watch ended: \(error)" }
                }
            }
            self.task.withLock { $0 = task }
        }

        deinit {
            task.withLock { $0?.cancel() }
        }

        var laggedCount: Int { content.withLock { $0.laggedCount } }
        var endedSessionKeys: [Key] { content.withLock { $0.endedSessionKeys } }
        var breach: String? { content.withLock { $0.breach } }
        var entries: [Key: Revision] { content.withLock { $0.entries.mapValues(\.revision) } }

        func equals(_ snapshot: Snapshot) -> Bool {
            entries == Dictionary(uniqueKeysWithValues: snapshot.entries.map { ($0.key, $0.revision) })
        }

        private func take(_ event: WatchEvent) {
            content.withLock { content in
                if event.revision < content.revision {
                    content.breach = "revision \(event.revision) after \(content.revision)"
                }
                content.revision = event.revision
                switch event {
                case .snapshot(let snapshot): content.take(snapshot)
                case .lagged(let snapshot):
                    content.laggedCount += 1
                    content.take(snapshot)
                case .changes(let changes):
                    for change in changes.changes {
                        if content.entries[change.key] != change.old {
                            content.breach = "before \(changes.revision), \(change.key) was another"
                        }
                        if change.kind == .sessionEnded { content.endedSessionKeys.append(change.key) }
                        content.entries[change.key] = change.new
                    }
                }
            }
        }
    }

    extension WatchRecord.Content {
        fileprivate mutating func take(_ snapshot: Snapshot) {
            entries = Dictionary(uniqueKeysWithValues: snapshot.entries.map { ($0.key, $0) })
        }
    }
#endif
