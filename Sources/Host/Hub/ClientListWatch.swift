#if ZMQ
    internal import CoreAPI
    internal import Logging
    internal import Platform
    internal import ProgramOutput
    internal import ZMQBackend

    /// Reads the list of a hub's clients again whenever its file has changed, so that the connection of a removed key
    /// is closed shortly after.
    ///
    /// Events of the directory report that a list was written or renamed. If the path is a symbolic link, whose target
    /// may change without an event, the list is read each second.
    final class ClientListWatch: Sendable {
        /// The content of the list, now and after each change. The stream ends with ``stop()``.
        let changes: AsyncStream<[String: ClientRights]>
        private let stopping: EventCounter

        /// The time after which the file is read again without an event. Some changes cause none, such as those of a
        /// file that is mounted into a container, the removal of the list, or the replacement of its directory.
        static let longestPause = Duration.seconds(60)
        private static let unwatchedPause = Duration.seconds(1)
        /// The time between reads while a program has the list open for writing. It doubles up to ``unwatchedPause``:
        /// the event of the close may come before the kernel reports that no writer is left.
        private static let shortestPause = Duration.milliseconds(100)

        /// Begins to watch the list of clients.
        ///
        /// - Parameters:
        ///   - path: The absolute path of the list.
        ///   - timeout: How long a program may have the list open for writing before a warning.
        ///   - wait: Waits until one of the descriptors is readable, or for the given time, as ``Poll`` does. Tests use
        ///     their own clock.
        init(
            of path: String, logger: Logger, timeout: Duration = .seconds(5),
            wait: @escaping @Sendable ([Int32], Duration) -> [Bool] = { Poll.wait(for: $0, timeout: $1) }
        ) throws(SystemCallError) {
            let stopping = try EventCounter()
            self.stopping = stopping
            let (changes, source) = AsyncStream.makeStream(
                of: [String: ClientRights].self, bufferingPolicy: .bufferingNewest(1))
            self.changes = changes
            let place = Directory.parts(of: path).directory
            let directory = Self.isBehindLink(place) ? nil : try? Directory(path: place)
            let instance = try? FileEvents()
            let events = directory.flatMap { try? instance?.watchCompletions(in: $0) } == nil ? nil : instance
            let descriptors = [stopping.descriptor] + (events.map { [$0.descriptor] } ?? [])
            let pause = events == nil ? Self.unwatchedPause : Self.longestPause
            try OwnedThread.start("sc-hub-clients") {
                let clock = SystemClock()
                var (known, problem): ([String: ClientRights]?, String?)
                var writtenSince: BootInstant?
                var writtenPause = Self.shortestPause
                /// Keeps the list in force and logs the reason once. If only the readable part of a list were applied,
                /// a key that the user has removed might still be allowed.
                func keep(because sentence: String) {
                    if problem != sentence { logger.error("the list of clients is not read again: \(sentence)") }
                    problem = sentence
                }
                while true {
                    do throws(SharedCoreError) {
                        if let clients = try Self.clients(at: path) {
                            if known != nil, clients != known || problem != nil {
                                let keys = clients.count.counting("key")
                                logger.notice("the list of clients was read again: \(path) lets \(keys) in")
                            }
                            (problem, writtenSince) = (nil, nil)
                            if clients != known {
                                known = clients
                                source.yield(clients)
                            }
                        } else {
                            let now = clock.now()
                            let since = writtenSince ?? now
                            writtenSince = since
                            if since.duration(to: now) >= timeout {
                                keep(because: "\(path) is open for writing in a program (fuser shows which)")
                            }
                        }
                    } catch {
                        writtenSince = nil
                        keep(because: error.sentence)
                    }
                    let ready = wait(descriptors, writtenSince == nil ? pause : writtenPause)
                    if ready[0] { return source.finish() }
                    _ = events?.take()
                    writtenPause =
                        ready.contains(true) || writtenSince == nil
                        ? Self.shortestPause : min(writtenPause * 2, Self.unwatchedPause)
                }
            }
        }

        /// Returns the content of the list; nil as long as a program has it open for writing.
        ///
        /// - Throws: As ``KeyFile/publicKeys(at:)``, and ``SharedCoreError/Code/invalidArgument`` for a list without a
        ///   key.
        private static func clients(at path: String) throws(SharedCoreError) -> [String: ClientRights]? {
            func isBeingWritten() -> Bool {
                (try? OpenFile(path: path, .read)).flatMap { try? $0.hasWriters() } == true
            }
            if isBeingWritten() { return nil }
            let clients = try KeyFile.publicKeys(at: path)
            if isBeingWritten() { return nil }
            guard !clients.isEmpty else {
                throw SharedCoreError(.invalidArgument, "The list contains no key.", at: path)
            }
            return clients
        }

        /// Returns true if a part of the directory's path is a link.
        private static func isBehindLink(_ directory: String) -> Bool {
            Directory.resolvedPath(of: directory).map { $0 != directory } ?? false
        }

        func stop() {
            stopping.raise()
        }
    }
#endif
