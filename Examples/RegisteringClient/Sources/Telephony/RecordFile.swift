internal import CoreAPI
internal import Foundation
internal import Lifecycle

/// The record of a keep-alive in a file: a keep-alive that is due stays due in the next process.
struct RecordFile: Sendable {
    let path: String

    /// The keep-alive as it was kept last; a new one where nothing was, or nothing that makes sense.
    static func restore(_ path: String?, clock: any TimeSource) throws -> KeepAlive {
        guard let file = path.map(RecordFile.init) else { return try KeepAlive(clock: clock) }
        let restored = file.kept.flatMap { try? KeepAlive(restoring: $0, clock: clock, save: file.keep) }
        return try restored ?? KeepAlive(clock: clock, save: file.keep)
    }

    private var kept: KeepAliveRecord? {
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        return try? KeepAliveRecord(bytes: Array(bytes))
    }

    /// A few hundred bytes, into the system's memory: that is at once. A process that is killed meanwhile leaves the
    /// former ones.
    private func keep(_ record: KeepAliveRecord) {
        try? Data(record.bytes).write(to: URL(filePath: path), options: .atomic)
    }
}
