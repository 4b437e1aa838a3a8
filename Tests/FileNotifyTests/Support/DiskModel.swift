internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A disk that keeps for sure only what was synced: plays what was done to a directory, and gives what may be left of it
/// when the power fails.
struct DiskModel {
    /// What becomes of what was not synced.
    enum Fate {
        case lost, kept
        /// Each page is one of those that it was since the last sync, each name is there or not in their order.
        case torn
    }

    private struct File {
        var present: [UInt8] = []
        var durable: [UInt8] = []
        /// What each page was after each change since the last sync.
        var versions: [Int: [[UInt8]]] = [:]
        var atSync: [UInt8] = []
        var versionsSinceSyncBegan: [Int: [[UInt8]]] = [:]
        var isSyncing = false

        mutating func extend(to count: Int) {
            if present.count < count { present += [UInt8](repeating: 0, count: count - present.count) }
        }

        mutating func write(_ bytes: [UInt8], at offset: Int) {
            extend(to: offset + bytes.count)
            present.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            for page in offset / 4_096...(offset + max(bytes.count, 1) - 1) / 4_096 {
                let content = Array(present[(page * 4_096)..<min(present.count, (page + 1) * 4_096)])
                versions[page, default: []].append(content)
                if isSyncing { versionsSinceSyncBegan[page, default: []].append(content) }
            }
        }

        func content(_ fate: Fate, _ random: inout SplitMix64) -> [UInt8] {
            switch fate {
            case .lost: return durable
            case .kept: return present
            case .torn:
                var content = durable
                if content.count < present.count, !random.once(in: 3) {
                    content += [UInt8](repeating: 0, count: present.count - content.count)
                }
                for (page, versions) in versions.sorted(by: { $0.key < $1.key }) {
                    let choice = Int.random(in: 0...versions.count, using: &random)
                    guard choice > 0, page * 4_096 < content.count else { continue }
                    let bytes = versions[choice - 1].prefix(content.count - page * 4_096)
                    content.replaceSubrange(page * 4_096..<page * 4_096 + bytes.count, with: bytes)
                }
                return content
            }
        }
    }

    private enum NameChange {
        case added(String, UInt64)
        case renamed(String, String)
        case removed(String)

        func apply(to names: inout [String: UInt64]) {
            switch self {
            case .added(let name, let file): names[name] = file
            case .renamed(let old, let new): names[new] = names.removeValue(forKey: old)
            case .removed(let name): names[name] = nil
            }
        }
    }

    private var files: [UInt64: File] = [:]
    private var names: [String: UInt64] = [:]
    private var durableNames: [String: UInt64] = [:]
    private var nameChanges: [NameChange] = []

    mutating func apply(_ event: FileTrace.Event) {
        switch event {
        case .created(let name, let file):
            guard names[name] != file else { return }
            // A number that was used before means another file now.
            files[file] = File()
            change(.added(name, file))
        case .wrote(let file, let offset, let bytes):
            files[file, default: File()].write(bytes, at: offset)
        case .extended(let file, let byteCount):
            files[file, default: File()].extend(to: byteCount)
        case .syncBegan(let file):
            guard var syncing = files[file] else { return }
            syncing.atSync = syncing.present
            syncing.versionsSinceSyncBegan = [:]
            syncing.isSyncing = true
            files[file] = syncing
        case .syncEnded(let file):
            guard var synced = files[file] else { return }
            synced.durable = synced.atSync
            synced.versions = synced.versionsSinceSyncBegan
            synced.isSyncing = false
            files[file] = synced
        case .renamed(let old, let new): change(.renamed(old, new))
        case .removed(let name): change(.removed(name))
        case .namesSynced:
            durableNames = names
            nameChanges = []
        case .mark: break
        }
    }

    private mutating func change(_ change: NameChange) {
        change.apply(to: &names)
        nameChanges.append(change)
    }

    /// Writes what may be left into a directory.
    func leave(_ fate: Fate, in path: String, _ random: inout SplitMix64) throws {
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir", number: errno, at: path) }
        var left = durableNames
        let count: Int
        switch fate {
        case .lost: count = 0
        case .kept: count = nameChanges.count
        case .torn: count = Int.random(in: 0...nameChanges.count, using: &random)
        }
        for change in nameChanges.prefix(count) { change.apply(to: &left) }
        let directory = try Directory(path: path)
        for (name, number) in left.sorted(by: { $0.key < $1.key }) {
            let file = try OpenFile(name, in: directory, .createNew)
            let content = files[number]?.content(fate, &random) ?? []
            let end = (content.lastIndex { $0 != 0 } ?? -1) + 1
            try file.write(Array(content.prefix(end)), at: 0)
            try file.truncate(to: content.count)
        }
    }
}
