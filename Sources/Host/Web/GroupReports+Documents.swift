internal import Coordination
package import CoreAPI
internal import Mailboxes
package import ProgramOutput

// The documents. Each has the revision of the group that it shows, and at most ``GroupReports/pageCount`` elements in a list.
extension GroupReports {
    /// Returns the document of `status --json`, and `more`: true if one of its lists has more elements than the
    /// document.
    package func status() async throws(Failure) -> JSONObject {
        try await read { group, context in
            var document: JSONObject = [:]
            var hasMore = false
            for (name, value) in try await StatusOverview(of: group, in: context).json.members {
                guard case .array(let values) = value else {
                    document.append(name, value)
                    continue
                }
                let objects = values.compactMap { value -> JSONObject? in
                    if case .object(let object) = value { object } else { nil }
                }
                // Each list gets an equal part of the document's size.
                let listed = Self.beginning(of: objects, byteCount: Self.listByteCount / 4) { $0 }
                hasMore = hasMore || listed.count < values.count
                document.append(name, .array(listed))
            }
            document.append("more", .flag(hasMore))
            return document
        }
    }

    /// Returns the messages that wait to be acknowledged, the oldest first, without sender and text: `revision waiting
    /// taken messages[]{callID,revision,taken,takenBy,after,before} more`. A message has no time of its own: `after`
    /// and `before` are the times of the entries of the timeline before and after it, or null.
    package func inbox() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let messages = try await Inbox(group).unacknowledged()
            let records = try await Timeline(group).history().records
            let clock = WallTime()
            let taken = messages.count(where: \.isTaken)
            // The messages and the entries are both in the order of their revisions, so one pass is enough.
            var next = 0
            func time(_ index: Int) -> JSONValue {
                guard records.indices.contains(index) else { return .null }
                return .optional(clock.text(of: records[index].entry.at, in: records[index].entry.bootID))
            }
            let listed = Self.beginning(of: messages) { message in
                while next < records.count, records[next].revision <= message.revision { next += 1 }
                return [
                    "callID": .text(message.callID.text), "revision": .natural(message.revision.rawValue),
                    "taken": .flag(message.isTaken), "takenBy": .optional(message.takenBy?.description),
                    "after": time(next - 1), "before": time(next),
                ]
            }
            return [
                "revision": try await group.revisionNow(), "waiting": .integer(Int64(messages.count - taken)),
                "taken": .integer(Int64(taken)),
                "messages": .array(listed), "more": .flag(listed.count < messages.count),
            ]
        }
    }

    /// Returns the calls: `revision calls[] more`, each call as `calls --json` prints it.
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

    /// Returns the pushes: `revision waiting taken givenUp forMain paused pushes[] failures[] more`. A push is printed
    /// as by `push --list --json`, and a failure as by `push --given-up --json`.
    package func pushes() async throws(Failure) -> JSONObject {
        try await read { group, context in
            let queue = try context.resolution.pushQueue(of: group)
            let failures = try await queue.givenUp()
            var document: JSONObject = ["revision": try await group.revisionNow()]
            let host = try await HostOverview(of: group)
            for (name, value) in host.pushes.members { document.append(name, value) }
            let overview = try await PushOverview(of: queue, host: host, limit: Self.pageCount)
            let pushes = Self.beginning(of: overview.rows, byteCount: Self.listByteCount / 2) { overview.json(of: $0) }
            document.append("pushes", .array(pushes))
            let listed = Self.beginning(of: failures) { $0.givenUpJSON }
            document.append("failures", .array(listed))
            let isCut = overview.isCut || pushes.count < overview.rows.count
            document.append("more", .flag(isCut || listed.count < failures.count))
            return document
        }
    }

    /// Returns the mailboxes: `revision mailboxes[]{directory,kind,name,waiting,taken,consumers[]{session,taken}}
    /// more`.
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

    /// Returns a page of the timeline: `revision incarnation records[] before dropped violations[]`. The records are
    /// the entries before a revision, the oldest first, as `timeline --json` prints them. `before` begins the page
    /// before this one; null if this is the first. Another group at the same place has another `incarnation`.
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

    /// Returns the last line of `check --json`, with the violations that it has found.
    package func check() async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let report = TimelineChecker.check(try await Timeline(group).history())
            let line = TimelineLine(clock: WallTime())
            var document = CheckCommand.json(report)
            document.append("found", .array(Self.beginning(of: report.violations) { line.json($0) }))
            return document
        }
    }

    /// Returns one level of the store's keys, without those of the coordination: `revision prefix
    /// children[]{name,isKey,count} next`.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys, up to a `/`; empty for the root. A missing `/` at its end is added. A key that begins with `/` is below the prefix `/`.
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

    /// Returns an entry: `key bytes cut value revision`, with `valueBase64` in place of `value` if the value is not
    /// text. Nil for an absent key and for a key of the coordination.
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

    /// Returns the JSON of the first elements, at most ``pageCount``.
    ///
    /// - Parameter byteCount: The length in bytes at which the list ends. The last element may exceed it.
    static func beginning<Element>(
        of elements: some Sequence<Element>, byteCount limit: Int = listByteCount, json: (Element) -> JSONObject
    ) -> [JSONValue] {
        var listed: [JSONValue] = []
        var byteCount = 0
        for element in elements.prefix(pageCount) where byteCount < limit {
            let object = json(element)
            byteCount += object.line.utf8.count
            listed.append(.object(object))
        }
        return listed
    }
}

extension SharedStore {
    func revisionNow() async throws(SharedCoreError) -> JSONValue {
        .natural(try await list(.ownership).revision.rawValue)
    }
}
