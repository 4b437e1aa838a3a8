internal import Synchronization

/// The operations on the files of one directory, in order, for tests that simulate a loss of power, in which unsynced
/// data may be lost. Compiled in debug builds only.
package enum FileTrace {
    /// One operation. Files are identified by their number in the file system.
    package enum Event: Sendable {
        case created(name: String, file: UInt64)
        case madeUnnamed(file: UInt64)
        case linked(name: String, file: UInt64)
        case wrote(file: UInt64, offset: Int, bytes: [UInt8])
        case extended(file: UInt64, byteCount: Int)
        case syncBegan(file: UInt64)
        case syncEnded(file: UInt64)
        case renamed(from: String, to: String)
        case removed(name: String)
        case namesSynced
        /// A mark that a test wants to find again.
        case mark(Int)
    }

    #if FAIL_POINTS
        private struct Recording {
            let directory: String
            var events: [Event] = []
        }

        private static let recording = Mutex<Recording?>(nil)
        private static let isActive = Atomic(false)

        /// Starts recording the operations in a directory. There is one recording at a time.
        package static func begin(in directory: String) {
            recording.withLock { $0 = Recording(directory: directory + "/") }
            isActive.store(true, ordering: .releasing)
        }

        /// Ends the recording and returns the operations.
        package static func end() -> [Event] {
            isActive.store(false, ordering: .releasing)
            return recording.withLock { recording in
                defer { recording = nil }
                return recording?.events ?? []
            }
        }

        package static func mark(_ number: Int) {
            recording.withLock { $0?.events.append(.mark(number)) }
        }

        static func record(_ path: String, _ event: @autoclosure () -> Event?) {
            guard isActive.load(ordering: .acquiring) else { return }
            guard recording.withLock({ $0.map { path.hasPrefix($0.directory) } ?? false }), let event = event() else {
                return
            }
            recording.withLock { $0?.events.append(event) }
        }
    #else
        @inline(__always)
        static func record(_ path: String, _ event: @autoclosure () -> Event?) {}
    #endif
}

extension OpenFile {
    /// Records an operation on the file.
    @inline(__always)
    func trace(_ event: (_ file: UInt64) -> FileTrace.Event) {
        FileTrace.record(path, (try? status()).map { event($0.identity.number) })
    }
}
