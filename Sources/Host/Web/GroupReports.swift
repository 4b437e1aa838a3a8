internal import ArgumentParser
internal import Coordination
package import CoreAPI
internal import FileNotifyBackend
package import Platform
package import ProgramOutput
internal import SharedCoreConfiguration

/// The state of a group as JSON documents, in the forms in which the commands print it with `--json`.
///
/// It reads without a session (contract L4). Texts of the inbox, payloads of pushes, batons, and the values of the keys
/// that the coordination keeps for itself are in no document.
package actor GroupReports {
    /// The error of a document that cannot be made, for example because there is no group.
    package struct Failure: Error {
        /// The failure with which a command would end.
        let cause: CommandFailure
        /// True if the request is wrong, so that the document can never be made.
        package let isInvalid: Bool

        package var message: String { cause.message ?? "interrupted" }

        /// True if the command would end with status 1, for example because the session does not exist any more.
        package var isRefusal: Bool { cause.status == .no }
    }

    /// The maximum number of elements of a list in a document.
    package static let pageCount = 500
    /// The maximum size of a list in a document, in bytes. The last element may exceed it.
    static let listByteCount = 512 << 10
    /// The maximum size of a value in a document, in bytes.
    package static let valueByteCount = 64 << 10

    /// An open handle.
    struct Handle: Sendable {
        let group: any SharedGroup
        /// True if the handle also shows later revisions, so that it is kept open.
        let isFollowing: Bool
        /// The incarnation that it was opened in.
        let incarnation: Int
    }

    /// The last seen state of a group that is opened for each read.
    private struct Sight: Sendable {
        let revision: Revision
        let record: TimelineRecord?

        /// Returns true if a later state can be that of the same group: its revision is no lower, and its timeline has
        /// the entry that was the last one, or tells that it was dropped.
        func precedes(_ revision: Revision, _ history: TimelineHistory) -> Bool {
            guard revision >= self.revision else { return false }
            guard let record, record.revision > history.checkpoint?.through ?? .zero else { return true }
            return history.records.contains(record)
        }
    }

    let context: CommandContext
    /// The command's name for messages.
    private let command: String
    /// The open handle, where a handle shows what is written after it was opened.
    private var live: Handle?
    /// The opening that is under way: readers that come meanwhile share its handle.
    private var opening: Task<Handle, any Error>?
    /// Distinguishes groups at the same place. It is increased when another group may have replaced the former one.
    private var incarnation = 0
    private var sight: Sight?
    /// A random number that distinguishes the incarnation counts of this process from those of an earlier process.
    let start = UInt64.random(in: 0...UInt64.max)

    init(_ context: CommandContext, for command: String = "web") {
        self.context = context
        self.command = command
    }

    /// Runs a program that shows the group of the environment and the configuration file, until SIGINT or SIGTERM.
    ///
    /// - Parameter json: Whether it prints JSON. Such a program ends by a signal, so that is not a failure.
    package static func run(
        json: Bool, _ work: @escaping @Sendable (GroupReports) async throws -> Void
    ) async throws {
        let global = try GlobalOptions.parse(json ? ["--json"] : [])
        try await CommandFrame(global: global).run(until: [.interrupt, .terminate]) { context in
            _ = try context.resolution.backendConfiguration()
            try context.requireSharedBackend(for: "web")
            let reports = GroupReports(context)
            try await reports.closing {
                do {
                    try await work(reports)
                } catch is CancellationError where Task.isCancelled {}
            }
        }
    }

    /// Runs a body and closes the handle, also when the body throws.
    nonisolated func closing(after body: @Sendable () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Prints a line, as commands do.
    package nonisolated func print(text: String, json: JSONObject) async throws {
        try await context.output.emit(text: text, json: json)
    }

    /// Listens at a port of 127.0.0.1; 0 chooses a free one.
    package nonisolated static func listener(port: UInt16) throws(SystemCallError) -> StreamListener {
        try StreamListener(loopbackPort: port)
    }

    /// Listens at a path. Creates its directory, and refuses one that other users may enter or replace.
    package nonisolated func listener(path: String) throws -> StreamListener {
        guard path.isAbsolutePath else { throw CommandFailure.usage("--socket takes an absolute path, not “\(path)”") }
        guard !path.hasSuffix("/"), (try? FileStatus(behindPath: path))?.isDirectory != true else {
            throw CommandFailure.usage(
                "--socket takes the path of a socket, and \(path) is a directory: give a name in it, such as "
                    + "\(path)\(path.hasSuffix("/") ? "" : "/")page")
        }
        let (directory, name) = Directory.parts(of: path)
        let settled: String
        do throws(SharedCoreError) {
            _ = try PrivateDirectory.open(directory)
            settled = try PrivateDirectory.trustedPath(directory, []).path(of: name)
        } catch {
            throw CommandFailure(error)
        }
        return try StreamListener(path: settled)
    }

    private func close() async {
        _ = try? await opening?.value
        let handle = live
        live = nil
        await handle?.group.close()
    }

    /// Returns true if the documents follow the group through one open handle, so that reading it often costs little.
    package var isLive: Bool { live != nil }

    /// The changes after a revision.
    package struct Changes: Sendable {
        /// The revision of the group.
        package let revision: Revision
        /// The incarnation of the group. Another group at the same place has another one.
        package let incarnation: String
        /// The entries of the timeline after the revision, by theirs, the oldest first.
        package let records: [(revision: Revision, json: JSONValue)]
        /// The timeline entries that were dropped: their last revision, and their summary as `timeline --json` prints
        /// it.
        package let dropped: (through: Revision, json: JSONObject)?
    }

    /// Returns the changes after a revision; nil if the group is at it.
    ///
    /// - Parameters:
    ///   - known: The revision up to which the caller has seen all changes.
    ///   - incarnation: The incarnation that the caller has seen; nil if it has seen none.
    package func changes(after known: Revision, of incarnation: String?) async throws(Failure) -> Changes? {
        let start = start
        let (handle, found) = try await withHandle { handle, _ -> (Handle, Snapshot?) in
            // The incarnation of a group that is opened for each read shows in its timeline alone.
            if handle.isFollowing, incarnation == Self.name(of: handle.incarnation, since: start) {
                // Get the revision of the group from a list of a small part of the store, which is cheap.
                guard try await handle.group.list(.ownership).revision != known else { return (handle, nil) }
            }
            return (handle, try await handle.group.list(Timeline.prefix))
        }
        guard let snapshot = found else { return nil }
        let history = TimelineHistory(snapshot)
        let name = Self.name(
            of: handle.isFollowing ? handle.incarnation : note(snapshot.revision, history), since: start)
        guard snapshot.revision != known || name != incarnation else { return nil }
        let line = TimelineLine(clock: WallTime())
        var records: [(revision: Revision, json: [JSONValue])] = []
        for record in history.records where record.revision > known {
            if records.last?.revision != record.revision { records.append((record.revision, [])) }
            records[records.count - 1].json.append(.object(line.json(record)))
        }
        return Changes(
            revision: snapshot.revision, incarnation: name, records: records.map { ($0.revision, .array($0.json)) },
            dropped: history.checkpoint.flatMap { checkpoint in
                checkpoint.through > known ? (checkpoint.through, line.json(checkpoint)) : nil
            })
    }

    /// Returns the incarnation of the group that is there now.
    func presentIncarnation() async throws(Failure) -> String? {
        // With nil for the incarnation, the revision is not compared, so a result is always returned.
        try await changes(after: .zero, of: nil)?.incarnation
    }

    /// Records the state of a group that is opened for each read.
    ///
    /// - Returns: Its incarnation.
    private func note(_ revision: Revision, _ history: TimelineHistory) -> Int {
        if sight?.precedes(revision, history) == false { incarnation += 1 }
        sight = Sight(revision: revision, record: history.records.last)
        return incarnation
    }

    static func name(of incarnation: Int, since start: UInt64) -> String {
        String(start, radix: 36) + "-\(incarnation)"
    }

    /// Returns the revision of the group.
    func revision() async throws(Failure) -> Revision {
        try await read { group, _ in try await group.list(.ownership).revision }
    }

    /// Returns the data that `status` shows.
    func overview() async throws(Failure) -> StatusOverview {
        try await read { group, context in try await StatusOverview(of: group, in: context) }
    }

    // MARK: - Reading

    /// Reads the group through the open handle. If handles of this backend stay at one revision, opens one for this
    /// read alone.
    func read<Result: Sendable>(
        _ body: @Sendable (any SharedGroup, CommandContext) async throws -> Result
    ) async throws(Failure) -> Result {
        try await withHandle { handle, context in try await body(handle.group, context) }
    }

    func withHandle<Result: Sendable>(
        _ body: @Sendable (Handle, CommandContext) async throws -> Result
    ) async throws(Failure) -> Result {
        do {
            var handle = try await handle()
            if handle.isFollowing {
                do {
                    return try await body(handle, context)
                } catch let error as SharedCoreError where error.code != .invalidArgument {
                    // The handle may have ended because the group was removed, or another reader has closed it for that
                    // reason. Open a new handle, which shows the present group.
                    await drop(handle)
                }
                handle = try await self.handle()
            }
            if handle.isFollowing { return try await body(handle, context) }
            return try await handle.group.closing { [handle] in try await body(handle, context) }
        } catch let failure as CommandFailure {
            throw Failure(cause: failure, isInvalid: false)
        } catch let error as SharedCoreError {
            throw Failure(cause: CommandFailure(error), isInvalid: error.code == .invalidArgument)
        } catch {
            throw Failure(cause: CommandFailure(.unavailable, "\(error)"), isInvalid: false)
        }
    }

    /// Returns the open handle, or opens one. A handle that does not follow the group is for the caller alone, and the
    /// caller closes it.
    private func handle() async throws -> Handle {
        if let live { return live }
        if let opening {
            let handle = try await opening.value
            if handle.isFollowing { return handle }
            return Handle(
                group: try await context.openToRead(for: command, until: nil), isFollowing: false,
                incarnation: incarnation)
        }
        let task = Task { try await open() }
        opening = task
        defer { opening = nil }
        return try await task.value
    }

    private func open() async throws -> Handle {
        let group = try await context.openToRead(for: command, until: nil)
        guard await group.isFollowing else {
            return Handle(group: group, isFollowing: false, incarnation: incarnation)
        }
        // A handle normally ends because its group was removed, so count a new incarnation. If the handle has ended for
        // another reason, readers only have to begin anew.
        incarnation += 1
        let handle = Handle(group: group, isFollowing: true, incarnation: incarnation)
        live = handle
        return handle
    }

    private func drop(_ handle: Handle) async {
        if live?.incarnation == handle.incarnation { live = nil }
        await handle.group.close()
    }
}

extension SharedStore {
    /// True if a handle that was opened to read shows later revisions.
    fileprivate var isFollowing: Bool {
        get async {
            guard let watch = try? await watch([.ownership], from: .snapshot) else { return false }
            watch.cancel()
            return true
        }
    }
}

extension KeyPrefix {
    static let ownership: KeyPrefix = ".sharedcore/ownership"
}
