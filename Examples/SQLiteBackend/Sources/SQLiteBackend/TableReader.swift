internal import CoreAPI
internal import Foundation
internal import GRDB
internal import LogBackend

/// A log in a table that is only read: it makes and changes no file.
///
/// While a database with a write-ahead log is open, two files are beside it. A connection that may write creates them, and
/// marks in the index how far it reads. With `readonly_shm` a connection marks nothing. With `immutable`, for a database
/// that no process has open, it uses neither file and takes no lock. So each read opens its own connection, and is
/// repeated if the files changed meanwhile.
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
            throw SharedCoreError(
                .unavailable, "Participants opened and closed the database during each read. Try again.", at: path)
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
            throw SharedCoreError(.unavailable, "The file is empty: no participant has made its tables yet.", at: path)
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.readonly = true
        let access = files.hasIndex ? "readonly_shm" : "immutable"
        let queue = try DatabaseQueue(path: "file:\(address)?mode=ro&\(access)=1", configuration: configuration)
        return try await queue.read(body)
    }

    /// The path for a URI. The characters that would end it there, or begin an escape, are escaped.
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

    /// The state of the database's files. It changes when participants open or close the database during a read.
    private struct Files: Equatable {
        let hasIndex: Bool
        /// True if there is a write-ahead log that is not empty.
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
