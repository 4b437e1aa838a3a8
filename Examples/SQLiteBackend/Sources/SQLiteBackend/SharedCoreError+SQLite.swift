internal import CoreAPI
internal import GRDB

extension SharedCoreError {
    /// The error of a call to the database. Errors of the contract that were thrown inside pass through.
    init(_ error: any Error, at path: String) {
        switch error {
        case let error as SharedCoreError: self = error
        case is CancellationError:
            self.init(.cancelled, "The task was cancelled; nothing was done.", at: path)
        case let error as DatabaseError:
            let (code, message): (Code, String) =
                switch error.resultCode {
                case .SQLITE_FULL: (.storageFull, "There is no space left for the database.")
                case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH, .SQLITE_CANTOPEN:
                    (.forbidden, "The database may not be used.")
                case .SQLITE_CORRUPT, .SQLITE_NOTADB: (.corrupt, "The database is damaged.")
                case .SQLITE_BUSY, .SQLITE_LOCKED: (.unavailable, "Another process has held the database for too long.")
                case .SQLITE_INTERRUPT, .SQLITE_ABORT: (.cancelled, "The task was cancelled; nothing was done.")
                default: (.system, "The database refused.")
                }
            self.init(code, message, at: path, cause: error.message)
        default: self.init(.system, "The database failed.", at: path, cause: "\(error)")
        }
    }
}
