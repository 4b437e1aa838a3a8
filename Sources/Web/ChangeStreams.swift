internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreHost

/// The streams of changes: server-sent events. An id is a revision, an `@` and the incarnation of the group.
///
/// For each reader only its revision is kept. The entries after it are read from the timeline.
actor ChangeStreams {
    private struct Stream {
        /// The key of the browser that has begun it.
        let key: String?
        /// Everything up to this revision was sent; nil for a stream that begins at the present.
        var known: Revision?
        /// The incarnation of the group that ``known`` belongs to; nil if the reader names none.
        var incarnation: String?
        /// True if the head of the answer was sent.
        var isOpen = false
    }

    /// The maximum number of streams at a time.
    static let limit = 200
    /// The interval between two reads of the group: through an open handle, and if the group must be opened for each
    /// read.
    private static let interval = Duration.milliseconds(200)
    private static let intervalOfOpening = Duration.seconds(1)
    /// The maximum number of bytes of past entries that a stream gets at once, so that a reader that keeps up never
    /// loses its connection because of them.
    private static let portionByteCount = 256 << 10
    /// The interval at which a stream without changes gets a comment, so that both ends notice a lost connection.
    private static let heartbeat = Duration.seconds(15)

    private let reports: GroupReports
    private let clock = SystemClock()
    private var streams: [Int: Stream] = [:]

    init(of reports: GroupReports) {
        self.reports = reports
    }

    /// Returns the beginning of a stream, after the revision that the request names.
    func begin(_ request: WebRequest, of peer: Int) -> RequestServer.Answer {
        let id = request["last-event-id"] ?? request.query["after"]
        let parts = id?.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let known = parts.flatMap { UInt64($0[0]) }.map { Revision(rawValue: $0) }
        guard id == nil || known != nil else {
            return .init(WebAnswer.problem(.badRequest, "Last-Event-ID is the id of an event, or a revision."))
        }
        guard streams.count < Self.limit else {
            return .init(WebAnswer.problem(.unavailable, "There are \(Self.limit) streams already."))
        }
        streams[peer] = Stream(
            key: request["x-sharedcore-key"], known: known, incarnation: parts.flatMap { $0.count > 1 ? $0[1] : nil })
        // The head is sent with the first bytes of the stream, so that no event is sent before it.
        return .init([], isStream: true)
    }

    private static let opening = WebAnswer.head(.ok, type: "text/event-stream") + Array(": open\n\n".utf8)

    func remove(_ peer: Int) { streams[peer] = nil }

    /// Sends the changes, until its task is cancelled. The streams of a browser that is not admitted any more end.
    func run(
        for access: Access, send: @Sendable ([UInt8], Int) -> Void, end: @Sendable (Int) -> Void
    ) async throws {
        var beat = clock.now().advanced(by: Self.heartbeat)
        while true {
            for (peer, stream) in streams where !access.isKey(stream.key) {
                streams[peer] = nil
                end(peer)
            }
            for (peer, stream) in streams where !stream.isOpen {
                send(Self.opening, peer)
                streams[peer]?.isOpen = true
            }
            if !streams.isEmpty { await deliver(send) }
            if clock.now() >= beat {
                beat = clock.now().advanced(by: Self.heartbeat)
                for (peer, stream) in streams where stream.isOpen { send(Array(": still here\n\n".utf8), peer) }
            }
            let pause = await reports.isLive ? Self.interval : Self.intervalOfOpening
            try await clock.sleep(until: clock.now().advanced(by: pause))
        }
    }

    /// Reads the group once for all streams, from the earliest of their revisions.
    private func deliver(_ send: @Sendable ([UInt8], Int) -> Void) async {
        let isNew = streams.values.contains { $0.known == nil }
        let earliest = streams.values.compactMap(\.known).min()
        let incarnations = Set(streams.values.map(\.incarnation))
        let isUneven = Set(streams.values.map(\.known)).count > 1 || incarnations.count > 1
        let changes: GroupReports.Changes?
        do {
            // If the streams have different revisions, one may be behind although the earliest is not.
            changes =
                isNew || isUneven
                ? try await reports.changes(after: .zero, of: nil)
                : try await reports.changes(after: earliest ?? .zero, of: incarnations.first ?? nil)
        } catch {
            let event = Self.event("problem", id: nil, ["error": .text(error.message)])
            for (peer, stream) in streams where stream.isOpen { send(event, peer) }
            return
        }
        guard let changes else { return }
        let (revision, incarnation) = (changes.revision, changes.incarnation)
        var written: [Revision: [UInt8]] = [:]
        for (peer, stream) in streams where stream.isOpen {
            defer { streams[peer]?.incarnation = incarnation }
            guard let known = stream.known else {
                send(Self.event("change", id: (revision, incarnation), [:]), peer)
                streams[peer]?.known = revision
                continue
            }
            let isOther = stream.incarnation.map { $0 != incarnation } ?? false
            guard !isOther, known <= revision else {
                // The reader has followed another group, for example one that was removed and made anew in the same
                // directory.
                send(Self.event("reset", id: (revision, incarnation), [:]), peer)
                streams[peer]?.known = revision
                continue
            }
            guard known < revision else { continue }
            if let dropped = changes.dropped, dropped.through > known {
                let checkpoint: JSONObject = ["checkpoint": .object(dropped.json)]
                send(Self.event("dropped", id: (dropped.through, incarnation), checkpoint), peer)
            }
            var end = revision
            var byteCount = 0
            for (revision, records) in changes.records where revision > known {
                let event =
                    written[revision] ?? Self.event("timeline", id: (revision, incarnation), ["records": records])
                written[revision] = event
                send(event, peer)
                byteCount += event.count
                if byteCount >= Self.portionByteCount {
                    end = revision
                    break
                }
            }
            if end == revision { send(Self.event("change", id: (end, incarnation), [:]), peer) }
            streams[peer]?.known = end
        }
    }

    /// Returns an event. Its data also has the revision, for scripts.
    private static func event(_ name: String, id: (Revision, String)?, _ content: JSONObject) -> [UInt8] {
        var data: JSONObject = ["revision": id.map { .natural($0.0.rawValue) } ?? .null]
        for (name, value) in content.members { data.append(name, value) }
        // The data is one line, because the JSON text has no line break.
        let id = id.map { "id: \($0.0.rawValue)@\($0.1)\n" } ?? ""
        return Array("event: \(name)\n\(id)data: \(data.line)\n\n".utf8)
    }
}
