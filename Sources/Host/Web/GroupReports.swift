internal import ArgumentParser
internal import Coordination
package import CoreAPI
internal import FileNotifyBackend
internal import Mailboxes
package import Platform
package import ProgramOutput
internal import SharedCoreConfiguration
internal import UnixSignals

/// The state of a group as JSON documents, in the forms in which the commands print it with `--json`.
///
/// It reads without a session (contract L4). Texts of the inbox, payloads of pushes, batons, and the values of the keys
/// that the coordination keeps for itself are in no document.
package actor GroupReports {
    /// A document cannot be made, such as where there is no group.
    package struct Failure: Error {
        /// What a command would end with.
        let cause: CommandFailure
        /// True if what was asked for is wrong, so that it can never be made.
        package let isInvalid: Bool

        package var message: String { cause.message ?? "interrupted" }

        /// True if the answer is no, such as where what is meant is not there any more.
        package var isRefusal: Bool { cause.status == .no }
    }

    /// The most elements of a list in a document.
    package static let pageCount = 500
    /// The most bytes of a list in a document, of which the last element may pass it.
    static let listByteCount = 512 << 10
    /// The most bytes of a value in a document.
    package static let valueByteCount = 64 << 10

    /// An open handle.
    private struct Handle: Sendable {
        let group: any SharedGroup
        /// True if it shows what is written after it was opened, so that it is kept open.
        let isFollowing: Bool
        /// The incarnation that it was opened in.
        let incarnation: Int
    }

    /// What was last seen of a group that is opened for each read.
    private struct Sight: Sendable {
        let revision: Revision
        let record: TimelineRecord?

        /// True if a later state can be that of the same group: its revision is no lower, and its timeline has the entry
        /// that was the last one, or tells that it was dropped.
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
    /// Tells groups at the same place apart: counted up when another one may be there.
    private var incarnation = 0
    private var sight: Sight?
    /// Tells this process's counts from those of an earlier one.
    private let start = UInt64.random(in: 0...UInt64.max)

    init(_ context: CommandContext, for command: String = "web") {
        self.context = context
        self.command = command
    }

    /// Runs a program that shows the group of the environment and the configuration file, until SIGINT or SIGTERM.
    ///
    /// - Parameter json: Whether it prints JSON.
    /// A signal is how such a program ends, so it is no failure then.
    package static func run(
        json: Bool, _ work: @escaping @Sendable (GroupReports) async throws -> Void
    ) async throws {
        let global = try GlobalOptions.parse(json ? ["--json"] : [])
        try await CommandFrame(global: global).run(until: [.sigint, .sigterm]) { context in
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

    /// Listens at a path. Creates its directory, and refuses one that other users may enter.
    package nonisolated func listener(path: String) throws -> StreamListener {
        guard path.isAbsolutePath else { throw CommandFailure.usage("--socket takes an absolute path") }
        guard !path.hasSuffix("/"), (try? FileStatus(behindPath: path))?.isDirectory != true else {
            throw CommandFailure.usage(
                "--socket takes the path of a socket, and \(path) is a directory: give a name in it, such as "
                    + "\(path)\(path.hasSuffix("/") ? "" : "/")page")
        }
        let (directory, name) = Directory.parts(of: path)
        let settled: String
        do throws(SharedCoreError) {
            _ = try PrivateDirectory.open(directory)
            settled = try PrivateDirectory.settle(directory).path(of: name)
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

    // MARK: - Documents

    /// The document of `status --json`.
    package func status() async throws(Failure) -> JSONObject {
        try await read { group, context in try await StatusOverview(of: group, in: context).json }
    }

    /// `revision waiting taken messages[]{callID,revision,taken,after,before} more`: the messages that wait to be acknowledged,
    /// the oldest first, without sender and text. A message has no time of its own: `after` and `before` are those of the
    /// entries of the timeline around it, or null.
    package func inbox() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let messages = try await Inbox(group).unacknowledged()
            let records = try await Timeline(group).history().records
            let clock = WallTime()
            let taken = messages.count(where: \.isTaken)
            // Both are in the order of the revisions.
            var next = 0
            func time(_ index: Int) -> JSONValue {
                guard records.indices.contains(index) else { return .null }
                return .optional(clock.text(of: records[index].entry.at, in: records[index].entry.bootID))
            }
            let listed = Self.beginning(of: messages) { message in
                while next < records.count, records[next].revision <= message.revision { next += 1 }
                return [
                    "callID": .text(message.callID.text), "revision": .natural(message.revision.rawValue),
                    "taken": .flag(message.isTaken), "after": time(next - 1), "before": time(next),
                ]
            }
            return [
                "revision": try await group.revisionNow(), "waiting": .integer(Int64(messages.count - taken)),
                "taken": .integer(Int64(taken)),
                "messages": .array(listed), "more": .flag(listed.count < messages.count),
            ]
        }
    }

    /// `revision calls[] more`, each as `calls --json` prints it.
    package func calls() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let calls = try await Calls(group).list()
            let listed = Self.beginning(of: calls) { CallLine($0).json }
            return [
                "revision": try await group.revisionNow(), "calls": .array(listed),
                "more": .flag(listed.count < calls.count),
            ]
        }
    }

    /// `revision waiting taken givenUp forMain failures[] more`; a failure as `push --given-up --json` prints it.
    package func pushes() async throws(Failure) -> JSONObject {
        try await read { group, context in
            let queue = try context.resolution.pushQueue(of: group)
            let failures = try await queue.givenUp()
            var document: JSONObject = ["revision": try await group.revisionNow()]
            for (name, value) in try await HostOverview(of: group).pushes.members { document.append(name, value) }
            let listed = Self.beginning(of: failures) { $0.givenUpJSON }
            document.append("failures", .array(listed))
            document.append("more", .flag(listed.count < failures.count))
            return document
        }
    }

    /// `revision mailboxes[]{directory,kind,name,waiting,taken} more`.
    package func mailboxes() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let snapshot = try await group.list(MailboxTable.prefix)
            let rows = MailboxTable(snapshot.entries).rows
            let listed = Self.beginning(of: rows) { $0.json }
            return [
                "revision": .natural(snapshot.revision.rawValue), "mailboxes": .array(listed),
                "more": .flag(listed.count < rows.count),
            ]
        }
    }

    /// `revision incarnation records[] before dropped violations[]`: the entries before a revision, the oldest first, as
    /// `timeline --json` prints them. `before` begins the page before this one; null where this is the first. Another
    /// group at the same place has another `incarnation`.
    ///
    /// - Parameters:
    ///   - end: The `before` of the page after it; nil for the last page.
    ///   - limit: How many entries; those of one commit stay together.
    package func timeline(before end: Revision?, limit: Int) async throws(Failure) -> JSONObject {
        let start = start
        return try await withHandle { handle, _ in
            let snapshot = try await handle.group.list(Timeline.prefix)
            let history = TimelineHistory(snapshot)
            let line = TimelineLine(clock: WallTime())
            let earlier = history.records.filter { record in end.map { record.revision < $0 } ?? true }
            var first = earlier.count
            var records: [JSONValue] = []
            var byteCount = 0
            while first > 0 {
                let isFull = records.count >= limit || byteCount >= Self.listByteCount
                if isFull, earlier[first - 1].revision != earlier[first].revision { break }
                first -= 1
                let json = line.json(earlier[first])
                byteCount += json.line.utf8.count
                records.append(.object(json))
            }
            return [
                "revision": .natural(snapshot.revision.rawValue),
                "incarnation": .text(Self.name(of: handle.incarnation, since: start)),
                "records": .array(records.reversed()),
                "before": first > 0 ? .natural(earlier[first].revision.rawValue) : .null,
                "dropped": history.checkpoint.map { .object(line.json($0)) } ?? .null,
                "violations": .array(Self.beginning(of: history.damages) { line.json($0) }),
            ]
        }
    }

    /// The last line of `check --json`, with the violations that it has found.
    package func check() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let report = TimelineChecker.check(try await Timeline(group).history())
            let line = TimelineLine(clock: WallTime())
            var document = CheckCommand.json(report)
            document.append("found", .array(Self.beginning(of: report.violations) { line.json($0) }))
            return document
        }
    }

    /// `revision prefix children[]{name,isKey,count} next`: one level of the store's keys, without the coordination's.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys, up to a `/`; empty for the root. A missing `/` at its end is added. A key
    ///     that begins with `/` is below the prefix `/`.
    ///   - name: The last child of the page before; nil for the first page.
    package func store(below prefix: String, after name: String?) async throws(Failure) -> JSONObject {
        let prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
        return try await read { group, _ in
            let snapshot = try await group.list(try KeyPrefix.init(prefix))
            let level = KeyLevel(of: snapshot.entries.lazy.map(\.key), below: prefix, after: name)
            return [
                "revision": .natural(snapshot.revision.rawValue), "prefix": .text(prefix),
                "children": .array(level.children.map { .object($0.json) }), "next": .optional(level.next),
            ]
        }
    }

    /// `key bytes cut value revision`, or `valueBase64`; nil for an absent key and for the coordination's.
    package func entry(_ text: String) async throws(Failure) -> JSONObject? {
        try await read { group, _ -> JSONObject? in
            let key = try Key.init(text)
            guard !ReservedPath.contains(key), let entry = try await group.get(key) else { return nil }
            let isCut = entry.value.count > Self.valueByteCount
            let value = ValueText.fields(
                isCut ? ValueText.beginning(entry.value, of: Self.valueByteCount) : entry.value)
            return [
                "key": .text(key.text), "bytes": .integer(Int64(entry.value.count)), "cut": .flag(isCut),
                value.name: value.value, "revision": .natural(entry.revision.rawValue),
            ]
        }
    }

    /// The changes after a revision.
    package struct Changes: Sendable {
        /// The revision of the group.
        package let revision: Revision
        /// Names the group: another one at the same place has another name.
        package let incarnation: String
        /// The entries of the timeline after the revision, by theirs, the oldest first.
        package let records: [(revision: Revision, json: JSONValue)]
        /// The entries that were dropped: the last revision of them, and how `timeline --json` tells of them.
        package let dropped: (through: Revision, json: JSONObject)?
    }

    /// Returns the changes after a revision; nil if the group is at it.
    ///
    /// - Parameters:
    ///   - known: A revision from which on the caller has seen everything.
    ///   - incarnation: The incarnation that the caller has seen; nil if it has seen none.
    package func changes(after known: Revision, of incarnation: String?) async throws(Failure) -> Changes? {
        let start = start
        let (handle, found) = try await withHandle { handle, _ -> (Handle, Snapshot?) in
            // The incarnation of a group that is opened for each read shows in its timeline alone.
            if handle.isFollowing, incarnation == Self.name(of: handle.incarnation, since: start) {
                // A small part of the store is cheap to list, and its revision is the group's.
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

    /// Notes what a group looks like that is opened for each read.
    ///
    /// - Returns: Its incarnation.
    private func note(_ revision: Revision, _ history: TimelineHistory) -> Int {
        if sight?.precedes(revision, history) == false { incarnation += 1 }
        sight = Sight(revision: revision, record: history.records.last)
        return incarnation
    }

    private static func name(of incarnation: Int, since start: UInt64) -> String {
        String(start, radix: 36) + "-\(incarnation)"
    }

    /// The revision of the group.
    func revision() async throws(Failure) -> Revision {
        try await read { group, _ in try await group.list(.ownership).revision }
    }

    /// What `status` shows.
    func overview() async throws(Failure) -> StatusOverview {
        try await read { group, context in try await StatusOverview(of: group, in: context) }
    }

    /// Returns as many of the first elements as a document may have.
    private static func beginning<Element>(of elements: [Element], json: (Element) -> JSONObject) -> [JSONValue] {
        var listed: [JSONValue] = []
        var byteCount = 0
        for element in elements.prefix(pageCount) where byteCount < listByteCount {
            let object = json(element)
            byteCount += object.line.utf8.count
            listed.append(.object(object))
        }
        return listed
    }

    // MARK: - Reading

    /// Reads the group through the open handle, or through one for this read alone where readers hold one revision.
    func read<Result: Sendable>(
        _ body: @Sendable (any SharedGroup, CommandContext) async throws -> Result
    ) async throws(Failure) -> Result {
        try await withHandle { handle, context in try await body(handle.group, context) }
    }

    private func withHandle<Result: Sendable>(
        _ body: @Sendable (Handle, CommandContext) async throws -> Result
    ) async throws(Failure) -> Result {
        do {
            var handle = try await handle()
            if handle.isFollowing {
                do {
                    return try await body(handle, context)
                } catch let error as SharedCoreError where error.code != .invalidArgument {
                    // The handle may have ended, such as when the group was removed, or another reader has closed it for
                    // that reason: the next one shows what is there.
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

    /// Returns the open handle, or opens one. A handle that does not follow the group is for the caller alone, who closes
    /// it.
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
        // A handle ends with its group. One that has ended for another reason costs a reader no more than to begin anew.
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

    fileprivate func revisionNow() async throws(SharedCoreError) -> JSONValue {
        .natural(try await list(.ownership).revision.rawValue)
    }
}

extension KeyPrefix {
    fileprivate static let ownership: KeyPrefix = ".sharedcore/ownership"
}
