#if ZMQ
    internal import CoreAPI
    internal import Logging
    internal import Platform
    internal import ProgramOutput
    internal import ZMQBackend

    /// Reads the list of a hub's clients again whenever its file has changed, so that a key which is taken off the list has no
    /// connection a moment later.
    final class ClientListWatch: Sendable {
        /// What the list holds, now and after each change. It ends with ``stop()``.
        let changes: AsyncStream<[String: ClientRights]>
        private let stopping: EventCounter

        /// How long a change may stay unnoticed that no event tells, as on a file system of another machine.
        private static let longestPause = Duration.seconds(60)

        /// - Parameter path: The absolute path of the list.
        init(of path: String, logger: Logger) throws(SystemCallError) {
            let stopping = try EventCounter()
            self.stopping = stopping
            let (changes, source) = AsyncStream.makeStream(
                of: [String: ClientRights].self, bufferingPolicy: .bufferingNewest(1))
            self.changes = changes
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            let directory = try Directory(path: slash > path.startIndex ? String(path[..<slash]) : "/")
            let events = try FileEvents()
            _ = try events.watchArrivals(in: directory)
            try OwnedThread.start("sc-hub-clients") {
                var (known, problem): ([String: ClientRights]?, String?)
                while true {
                    do throws(SharedCoreError) {
                        let clients = try KeyFile.publicKeys(at: path)
                        problem = nil
                        if clients != known {
                            if known != nil { logger.notice("\(path) has changed: it lets \(clients.count) keys in") }
                            known = clients
                            source.yield(clients)
                        }
                    } catch {
                        // A line that cannot be read may be the one that was to go: what is in force stays, and is said once.
                        if problem != error.sentence {
                            logger.error("the list of clients is not read again: \(error.sentence)")
                        }
                        problem = error.sentence
                    }
                    let ready = Poll.wait(
                        for: [stopping.descriptor, events.descriptor], timeout: Self.longestPause)
                    if ready[0] { return source.finish() }
                    _ = events.take()
                }
            }
        }

        func stop() {
            stopping.raise()
        }
    }
#endif
