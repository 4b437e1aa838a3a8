internal import CLinux
internal import Glibc

/// An inotify instance: reports writes to files that it watches.
package final class FileEvents: Sendable {
    /// A reported event.
    package enum Event: Hashable, Sendable {
        /// A watched file was written to.
        case changed(watch: Int32)
        /// A watched file was closed by a process that had it open for writing.
        case closed(watch: Int32)
        /// The watch has ended.
        case ended(watch: Int32)
        /// The kernel dropped events: any watched file may have changed, and the reader must check all of them.
        case overflow
    }

    /// The descriptor to poll for reading.
    package let descriptor: Int32

    /// Opens an inotify instance that watches nothing yet.
    ///
    /// - Throws: EMFILE when the user has no instance left.
    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("inotify_init1", at: "inotify") { clinux_file_events() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Watches a directory for new names in it, and for files in it that are closed after writing.
    package func watchArrivals(in directory: Directory) throws(SystemCallError) -> Int32 {
        try SystemCall.negated("inotify_add_watch", at: directory.path) {
            clinux_watch_arrivals(descriptor, "/proc/self/fd/\(directory.descriptor)/.")
        }
    }

    /// Watches a directory for files in it that are closed after writing, or get their name with complete content.
    package func watchCompletions(in directory: Directory) throws(SystemCallError) -> Int32 {
        try SystemCall.negated("inotify_add_watch", at: directory.path) {
            clinux_watch_completions(descriptor, "/proc/self/fd/\(directory.descriptor)/.")
        }
    }

    /// Watches a directory for files in it that are removed, moved or replaced, and for its own removal or move.
    package func watchDepartures(in directory: Directory) throws(SystemCallError) -> Int32 {
        try SystemCall.negated("inotify_add_watch", at: directory.path) {
            clinux_watch_departures(descriptor, "/proc/self/fd/\(directory.descriptor)/.")
        }
    }

    /// Watches a file for writes. A file that is already watched keeps its number.
    package func watchWrites(to file: OpenFile) throws(SystemCallError) -> Int32 {
        // The watch is set through the descriptor, because the name may belong to another file by now.
        try SystemCall.negated("inotify_add_watch", at: file.path) {
            clinux_watch_writes(descriptor, "/proc/self/fd/\(file.descriptor)")
        }
    }

    /// Ends a watch. A missing watch is no error.
    package func remove(_ watch: Int32) {
        _ = clinux_remove_watch(descriptor, watch)
    }

    /// Takes the events since the last call, and returns at once when there are none.
    package func take() -> [Event] {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            var events: [Event] = []
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count == -1, errno == EINTR { continue }
                guard count > 0 else { return events }
                var offset: Int64 = 0
                var watch: Int32 = -1
                var mask: UInt32 = 0
                while true {
                    offset = clinux_next_event(buffer.baseAddress, count, Int(offset), &watch, &mask)
                    guard offset > 0 else { break }
                    if clinux_event_is_overflow(mask) {
                        events.append(.overflow)
                    } else if clinux_event_is_end(mask) {
                        events.append(.ended(watch: watch))
                    } else if clinux_event_is_close(mask) {
                        events.append(.closed(watch: watch))
                    } else {
                        events.append(.changed(watch: watch))
                    }
                }
            }
        }
    }
}
