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
        package let message: String
    }

    /// The most elements of a list in a document.
    package static let pageCount = 500
    /// The most bytes of a list in a document, of which the last element may pass it.
    static let listByteCount = 512 << 10
    /// The most bytes of a value in a document.
    package static let valueByteCount = 64 << 10

    private let context: CommandContext
    /// The open handle, where a handle shows what is written after it was opened.
    private var live: (any SharedGroup)?
    /// How many handles there were, by which the present one is told from a former one.
    private var handleCount = 0

    init(_ context: CommandContext) {
        self.context = context
    }

    /// Runs a program that shows the group of the environment and the configuration file, until SIGINT or SIGTERM.
    ///
    /// - Parameter json: Whether it prints JSON.
    package static func run(
        json: Bool, _ work: @escaping @Sendable (GroupReports) async throws -> Void
    ) async throws {
        let global = try GlobalOptions.parse(json ? ["--json"] : [])
        try await CommandFrame(global: global).run(until: [.sigint, .sigterm]) { context in
            _ = try context.resolution.backendConfiguration()
            try context.requireSharedBackend(for: "web")
            let reports = GroupReports(context)
            do {
                try await work(reports)
            } catch {
                await reports.close()
                throw error
            }
            await reports.close()
        }
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
        let group = live
        live = nil
        await group?.close()
    }

    /// Returns true if the documents follow the group through one open handle, so that reading it often costs little.
    package var isLive: Bool { live != nil }

    // MARK: - Documents

    /// The document of `status --json`.
    package func status() async throws(Failure) -> JSONObject {
        try await read { group, context in try await StatusOverview(of: group, in: context).json }
    }

    /// `revision waiting taken messages[]{callID,revision,taken} more`: the messages that wait to be acknowledged, the
    /// oldest first, without sender and text.
    package func inbox() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let messages = try await Inbox(group).unacknowledged()
            let taken = messages.count(where: \.isTaken)
            let listed = Self.beginning(of: messages) { message in
                [
                    "callID": .text(message.callID.text), "revision": .natural(message.revision.rawValue),
                    "taken": .flag(message.isTaken),
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

    /// `revision records[] before dropped violations[]`: the entries before a revision, the oldest first, as
    /// `timeline --json` prints them. `before` begins the page before this one; null where this is the first.
    ///
    /// - Parameters:
    ///   - end: The `before` of the page after it; nil for the last page.
    ///   - limit: How many entries; those of one commit stay together.
    package func timeline(before end: Revision?, limit: Int) async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let snapshot = try await group.list(Timeline.prefix)
            let history = TimelineHistory(snapshot)
            let line = TimelineLine(clock: WallTime())
            let earlier = history.records.filter { record in end.map { record.revision < $0 } ?? true }
            var start = earlier.count
            var records: [JSONValue] = []
            var byteCount = 0
            while start > 0 {
                let isFull = records.count >= limit || byteCount >= Self.listByteCount
                if isFull, earlier[start - 1].revision != earlier[start].revision { break }
                start -= 1
                let json = line.json(earlier[start])
                byteCount += json.line.utf8.count
                records.append(.object(json))
            }
            return [
                "revision": .natural(snapshot.revision.rawValue), "records": .array(records.reversed()),
                "before": start > 0 ? .natural(earlier[start].revision.rawValue) : .null,
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
    ///   - path: The path of the parent; empty for the root.
    ///   - name: The last child of the page before; nil for the first page.
    package func store(below path: String, after name: String?) async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let snapshot = try await group.list(try KeyPrefix(path.isEmpty ? "" : path + "/"))
            let level = KeyLevel(of: snapshot.entries.lazy.map(\.key), below: path, after: name)
            return [
                "revision": .natural(snapshot.revision.rawValue), "prefix": .text(path),
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
        /// The entries of the timeline after the revision, by theirs, the oldest first.
        package let records: [(revision: Revision, json: JSONValue)]
        /// The entries that were dropped: the last revision of them, and how `timeline --json` tells of them.
        package let dropped: (through: Revision, json: JSONObject)?
    }

    /// Returns the changes after a revision; nil if the group is at it.
    ///
    /// - Parameter known: A revision from which on the caller has seen everything.
    package func changes(after known: Revision) async throws(Failure) -> Changes? {
        try await read { group, _ -> Changes? in
            // A small part of the store is cheap to list, and its revision is the group's.
            let revision = try await group.list(.ownership).revision
            guard revision != known else { return nil }
            let snapshot = try await group.list(Timeline.prefix)
            let history = TimelineHistory(snapshot)
            let line = TimelineLine(clock: WallTime())
            var records: [(revision: Revision, json: [JSONValue])] = []
            for record in history.records where record.revision > known {
                if records.last?.revision != record.revision { records.append((record.revision, [])) }
                records[records.count - 1].json.append(.object(line.json(record)))
            }
            return Changes(
                revision: snapshot.revision, records: records.map { ($0.revision, .array($0.json)) },
                dropped: history.checkpoint.flatMap { checkpoint in
                    checkpoint.through > known ? (checkpoint.through, line.json(checkpoint)) : nil
                })
        }
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
    private func read<Result: Sendable>(
        _ body: @Sendable (any SharedGroup, CommandContext) async throws -> Result
    ) async throws(Failure) -> Result {
        do {
            if let group = live {
                let number = handleCount
                do {
                    return try await body(group, context)
                } catch let error as SharedCoreError where error.code != .invalidArgument {
                    // The handle may have ended, such as when the group was removed: the next one shows what is there.
                    if number == handleCount { live = nil }
                    await group.close()
                }
            }
            let group = try await context.openToRead(for: "web", until: nil)
            guard await group.isFollowing else {
                return try await group.closing { try await body(group, context) }
            }
            let former = live
            live = group
            handleCount += 1
            await former?.close()
            return try await body(group, context)
        } catch let failure as CommandFailure {
            throw Failure(message: failure.message ?? "interrupted")
        } catch let error as SharedCoreError {
            throw Failure(message: error.sentence)
        } catch {
            throw Failure(message: "\(error)")
        }
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
