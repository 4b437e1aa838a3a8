internal import CoreAPI
internal import Foundation
internal import GRDB
internal import LogBackend

/// The log in a table, for one who only reads it: no file is made, and none is changed.
///
/// A database with a write-ahead log has two files beside it while it is open. A connection that may write makes them
/// where they are missing, and marks in one of them, the index, how far it reads. With `readonly_shm` it marks nothing;
/// with `immutable`, for a database that nobody has open, it uses neither of the two, and locks nothing. So each read
/// has a connection of its own, and is repeated where the files were others when it had ended.
struct TableReader: SharedLog {
    /// How often a read is tried while participants come and go.
    private static let attempts = 100

    let path: String

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        do {
            for _ in 0..<Self.attempts {
                let files = try Files(of: path)
                let slice = await Result { () async throws -> LogSlice in
                    try await read(files) { database in
                        try TableLog.validate(database)
                        return try TableLog.slice(of: database, from: position, limit: limit)
                    }
                }
                // An index that is shared gives the read locks, and a whole transaction.
                if files.hasIndex, case .success(let slice) = slice { return slice }
                if try Files(of: path) == files { return try slice.get() }
                try await Task.sleep(for: TableLog.pollInterval)
            }
            throw SharedCoreError(.unavailable, "Participants opened and left the database all the time.", at: path)
        } catch {
            throw SharedCoreError(error, at: path)
        }
    }

    private func read(_ files: Files, _ body: @Sendable (Database) throws -> LogSlice) async throws -> LogSlice {
        guard files.hasIndex || !files.hasLog else {
            throw SharedCoreError(
                .unavailable, "The write-ahead log has lost its index; the next participant makes it.", at: path)
        }
        guard files.hasIndex || files.byteCount > 0 else {
            throw SharedCoreError(.unavailable, "The file is empty, no database.", at: path)
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.readonly = true
        let access = files.hasIndex ? "readonly_shm" : "immutable"
        let queue = try DatabaseQueue(path: "file:\(address)?mode=ro&\(access)=1", configuration: configuration)
        return try await queue.read(body)
    }

    /// The path in a URI: what would end it there, or begin an escape, is escaped.
    private var address: String {
        path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
    }

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool { throw readOnly }

    func wait(after position: UInt64) async throws(SharedCoreError) { throw readOnly }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) { throw readOnly }

    func close() async {}

    private var readOnly: SharedCoreError {
        SharedCoreError(.forbidden, "The database was opened to read its present state.", at: path)
    }

    /// What tells whether participants came or left during a read.
    private struct Files: Equatable {
        let hasIndex: Bool
        /// Whether there is a write-ahead log with something in it.
        let hasLog: Bool
        let byteCount: Int
        let inode: Int
        let changed: Date

        init(of path: String) throws {
            let manager = FileManager.default
            guard let file = try? manager.attributesOfItem(atPath: path) else {
                throw SharedCoreError(.unavailable, "There is no database.", at: path)
            }
            hasIndex = manager.fileExists(atPath: path + "-shm")
            hasLog = (try? manager.attributesOfItem(atPath: path + "-wal"))?[.size] as? Int ?? 0 > 0
            byteCount = file[.size] as? Int ?? 0
            inode = file[.systemFileNumber] as? Int ?? 0
            changed = file[.modificationDate] as? Date ?? .distantPast
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
