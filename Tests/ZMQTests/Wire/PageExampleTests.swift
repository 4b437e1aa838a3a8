internal import CoreAPI
internal import Foundation
internal import Testing

@testable import Coordination
@testable import StoreEngine
@testable import ZMQBackend

/// The examples of `Docs/Reference/WireProtocol.md`, from which clients in other languages are written: the page is
/// right as long as the codec reads and writes its bytes.
@Suite("Wire: the examples of the page")
struct PageExampleTests {
    @Test("each example is what the codec writes, and is read as what it says")
    func examples() throws {
        let page = try Self.page()
        let codec = try Self.codec()
        #expect(Set(page.map(\.title)) == Set(codec.keys))
        #expect(page.count == codec.count, "no title twice")
        for (title, bytes) in page {
            let example = try #require(codec[title], "\(title)")
            #expect(example.written == bytes, "\(title) is written otherwise")
            #expect(try example.writtenAgain(bytes) == bytes, "\(title) is read otherwise")
        }
    }

    /// The codec's bytes for an example.
    private struct Example {
        let written: [UInt8]
        /// Reads bytes, and writes the value again.
        let writtenAgain: ([UInt8]) throws -> [UInt8]
    }

    /// Reads the examples in the fences `hex` of the page.
    ///
    /// Each has a title, then lines of at most 16 bytes in hexadecimal from the fifth column on. The meaning of the
    /// bytes follows them.
    private static func page() throws -> [(title: String, bytes: [UInt8])] {
        let path = URL(filePath: #filePath).appending(path: "../../../../Docs/Reference/WireProtocol.md")
            .standardizedFileURL
        var examples: [(title: String, bytes: [UInt8])] = []
        var isInside = false
        for line in try String(contentsOf: path, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("```") {
                isInside = line == "```hex"
            } else if isInside, line.hasPrefix("    "), !examples.isEmpty {
                let digits = line.dropFirst(4).prefix(48).split(separator: " ")
                examples[examples.count - 1].bytes += try digits.map { try #require(UInt8($0, radix: 16), "\(line)") }
            } else if isInside {
                examples.append((String(line), []))
            }
        }
        return examples
    }

    // MARK: - The examples of the page

    private static let process = ProcessIdentity(
        bootID: BootID(high: 0xf47a_c10b_58cc_4372, low: 0xa567_0e02_b2c3_d479), pid: 4711, startTime: 99)
    private static let client = Session(
        id: SessionID(rawValue: 41), process: process, role: .main, name: "app", openedAt: after(seconds: 1))
    private static let executor = Session(
        id: SessionID(rawValue: 41), process: process, role: .executor, name: "push 11", openedAt: after(seconds: 1))
    private static let incarnation: UInt64 = 0x0123_4567_89ab_cdef
    private static let nonce = ConnectionNonce(high: 0xf7f6_f5f4_f3f2_f1f0, low: 0xffff_fdfc_fbfa_f9f8)
    private static let stored = StoredEntry(
        value: .inline([0x76]), revision: revision(42), creationRevision: revision(42), lifetime: .session,
        origin: client.id, expiry: nil)
    private static let failure = GuardFailure(
        index: 0, condition: .absent("k"),
        found: Entry(
            key: "k", value: [0x76], revision: revision(42), creationRevision: revision(42), lifetime: .session,
            origin: client.id))

    private static func after(seconds: UInt64) -> BootInstant { BootInstant(nanoseconds: seconds * 1_000_000_000) }
    private static func revision(_ number: UInt64) -> Revision { Revision(rawValue: number) }

    private static func effect(
        _ number: UInt64, seconds: UInt64, _ body: Effect.Body, delivery: UInt64? = nil
    ) -> Effect {
        Effect(revision: revision(number), time: after(seconds: seconds), body: body, delivery: delivery)
    }

    private static let committed = effect(
        42, seconds: 2,
        .committed(
            client.id, requestNumber: nil, [.put("k", .inline([0x76]), .session), .post("n", state: nil)]),
        delivery: 2)
    private static let ended = effect(43, seconds: 3, .sessionEnded(client.id))

    private static func updates(after number: UInt64, _ effects: Effect...) throws -> Updates {
        var updates = Updates(after: revision(number))
        for effect in effects { updates.add(try effect.payload(), of: effect) }
        return updates
    }

    private static func codec() throws -> [String: Example] {
        var codec: [String: Example] = [:]
        for (title, request) in requests {
            codec["request " + title] = Example(written: try request.bytes()) { try Request($0).bytes() }
        }
        for (title, reply) in try replies() {
            let frame = reply.frame(records: try (recordsOfAnswers[title] ?? []).map { try bytes(of: $0) })
            codec["answer " + title] = Example(written: frame.bytes) { bytes in
                let answer = try Answer(ReceivedFrame(bytes))
                return answer.reply.frame(records: try answer.records.all()).bytes
            }
        }
        for (title, message) in try stream() {
            codec["stream " + title] = Example(written: message.bytes) { try StreamMessage($0).bytes }
        }
        for (title, record) in records {
            codec["record " + title] = Example(written: try bytes(of: record)) {
                try bytes(of: try JournalRecord($0[...]))
            }
        }
        return codec.merging(entries) { first, _ in first }
    }

    private static func bytes(of record: JournalRecord) throws -> [UInt8] {
        switch record {
        case .effect(let effect): return try effect.payload()
        case .snapshot(let part):
            var writer = RecordWriter()
            try writer.snapshotPart(part)
            return writer.bytes.bytes
        }
    }

    private static let requests: [String: Request] = [
        "hello": Request(
            number: 1,
            body: .hello(
                Request.Hello(
                    group: "chat", process: process, description: SessionDescription(role: .main, name: "app"),
                    token: Array(0..<32), resumed: nil))),
        "commit": Request(
            number: 2, nonce: nonce,
            body: .commit(
                Transaction(
                    guards: [.absent("k")],
                    operations: [.put("k", [0x76], .session), .post("n", state: nil)]),
                known: revision(41))),
        "read": Request(number: 3, nonce: nonce, body: .read(known: revision(42))),
        "probe": Request(number: 4, nonce: nonce, body: .probe(known: revision(42))),
        "catchUp": Request(number: 5, nonce: nonce, body: .catchUp(after: nil)),
        "keepAlive": Request(number: 9, nonce: nonce, body: .keepAlive),
        "close": Request(number: 6, nonce: nonce, body: .close),
        "history": Request(number: 7, nonce: nonce, body: .history(after: revision(300))),
        "view": Request(number: 1, body: .view(group: "chat")),
        "keepBaton": Request(
            number: 10, nonce: nonce, body: .keepBaton(Array("dialog".utf8), of: revision(42), for: .seconds(10))),
        "fetchBaton": Request(number: 11, nonce: nonce, body: .fetchBaton(of: revision(42), under: revision(50))),
    ]

    private static func replies() throws -> [String: Reply] {
        [
            "welcome": Reply(
                number: 1,
                body: .welcome(
                    Reply.Welcome(
                        session: client, incarnation: incarnation,
                        capabilities: Capabilities(
                            backend: "file", features: [.linearizableReads, .multipleProcesses], durability: .process,
                            limits: Limits()),
                        lease: .seconds(3), streamPort: 5556, nonce: nonce))),
            "outcome, committed": Reply(
                number: 2,
                body: .outcome(
                    .committed(Commit(revision: revision(42), changed: true)), at: revision(42),
                    try updates(after: 41, committed))),
            "outcome, refused": Reply(
                number: 3, body: .outcome(.refused(failure), at: revision(42), try updates(after: 42))),
            "current": Reply(number: 4, body: .current(revision(42), try updates(after: 42))),
            "snapshot": Reply(number: 5, body: .snapshot(revision(42))),
            "done": Reply(number: 6, body: .done),
            "refused": Reply(
                number: 2, body: .refused(SharedCoreError(.storageFull, "There is no space.", at: "store"))),
            "unknown": Reply(number: 3, body: .unknown),
            "history": Reply(number: 7, body: .history(revision(42))),
            "baton": Reply(number: 11, body: .baton(Array("dialog".utf8))),
            "baton, none": Reply(number: 11, body: .baton(nil)),
            "view": Reply(
                number: 1,
                body: .view(
                    revision(42),
                    Capabilities(
                        backend: "file", features: [.linearizableReads, .multipleProcesses], durability: .process,
                        limits: Limits()))),
        ]
    }

    /// The records that follow an answer, by the answer's name.
    private static var recordsOfAnswers: [String: [JournalRecord]] {
        let state = [records["snapshot begins"], records["snapshot ends"]].compactMap(\.self)
        return ["snapshot": state, "view": state, "history": [records["history"]].compactMap(\.self)]
    }

    private static func stream() throws -> [String: StreamMessage] {
        [
            "news": .updates(try updates(after: 42, ended), incarnation: incarnation),
            "beacon": .beacon(revision(43), incarnation: incarnation),
            "echo": .armed(Array(0x10..<0x20)),
        ]
    }

    private static var records: [String: JournalRecord] {
        let topic = TopicState(state: 0, count: 1, revision: revision(42), origin: client.id)
        let key: Key = "k"
        let name: NotificationName = "n"
        let later = TopicState(state: 0, count: 7, revision: revision(42), origin: client.id, firstCount: 6)
        var forgotten = ForgottenNames()
        forgotten.lastPost = revision(40)
        forgotten.highestCount = 6
        let change = StoredChange(key: "k", kind: .put, old: nil, new: stored)
        let opening = SessionOpening(
            process: process, description: SessionDescription(role: .main, name: "app"), backendData: [])
        let operations: [Effect.Operation] = [
            .put("k", .inline([]), .expiring(after: .milliseconds(1500))), .delete("a"), .deletePrefix("d/"),
            .post("n", state: 300),
        ]
        return [
            "effect, session opened": .effect(effect(41, seconds: 1, .sessionOpened(opening))),
            "effect, committed": .effect(
                effect(42, seconds: 2, .committed(client.id, requestNumber: 7, operations))),
            "effect, brought by a hub": .effect(committed),
            "effect, refused": .effect(effect(44, seconds: 4, .refused(client.id, requestNumber: 8, failure))),
            "effect, session ended": .effect(ended),
            "effect, expired": .effect(effect(45, seconds: 5, .expired(["k"]))),
            "effect, machine started anew": .effect(effect(45 + 1 << 32, seconds: 1, .restarted(process.bootID))),
            "snapshot begins": .snapshot(.begin(revision(42))),
            "entries": .snapshot(.entries([(key: key, entry: stored)])),
            "sessions": .snapshot(.sessions([SessionState(session: client, backendData: [])])),
            "names": .snapshot(.topics([(name: name, topic: topic)])),
            "history": .snapshot(
                .history([
                    CommittedChanges(revision: revision(41), origin: SessionID(rawValue: 0), changes: []),
                    CommittedChanges(revision: revision(42), origin: client.id, changes: [change]),
                ])),
            "forgotten names": .snapshot(.forgottenNames(forgotten)),
            "later names": .snapshot(.topics([(name: name, topic: later)])),
            "snapshot ends": .snapshot(.end),
        ]
    }

    private static var entries: [String: Example] {
        let moving = Activity(
            .call, id: "a84b", begun: after(seconds: 3), moves: "sip-dialog/1", needs: .bytes)
        let acquired = TimelineEntry(
            .acquired, by: executor, to: .starting,
            previous: PreviousOwnership(epoch: revision(30), end: .released), reason: "nobody owned",
            at: after(seconds: 2), bootID: process.bootID)
        return [
            "entry ownership/owner": entry(
                OwnerRecord(
                    role: .executor, state: .running, name: "push 11", process: process, since: after(seconds: 2),
                    processNamespace: 4_026_531_836)),
            "entry ownership/handover": entry(
                HandoverRecord(
                    name: "app", askedAt: after(seconds: 3), deadline: .milliseconds(500), takesOverMain: false,
                    process: process)),
            "entry ownership/lease": entry(LeaseRecord(duration: .seconds(6))),
            "entry ownership/critical": entry(CriticalRecord(epoch: revision(42), bound: .seconds(2))),
            "entry ownership/activities": entry(
                ActivitiesRecord(
                    epoch: revision(42), activities: [Activity(.call, id: "a84b", begun: after(seconds: 3))])),
            "entry ownership/moving": entry(
                MovingRecord(
                    epoch: revision(42), reach: .hub, activities: [moving])),
            "entry ownership/takes": entry(TakesRecord(reach: .hub, kinds: ["sip-dialog/1"])),
            "entry ownership/challenge": entry(ChallengeRecord(claim: revision(42))),
            "entry ownership/answer": entry(AnswerRecord(claim: revision(42), challenge: revision(50))),
            "entry expectations": entry(Expectation(bootID: process.bootID, deadline: after(seconds: 5))),
            "entry tenure, open": tenure(released: nil), "entry tenure, released": tenure(released: revision(42)),
            "entry timeline": Example(written: acquired.encoded()) { try TimelineEntry(decoding: $0).encoded() },
        ]
    }

    private static func entry<Record: StoredRecord>(_ record: Record) -> Example {
        // Bytes that cannot be read give a record that says so, which is written otherwise.
        Example(written: record.bytes) { Record(bytes: $0).bytes }
    }

    private static func tenure(released: Revision?) -> Example {
        Example(written: Tenure.encoded(released: released)) { bytes in
            let entry = Entry(
                key: Tenure.key, value: bytes, revision: revision(50), creationRevision: revision(50),
                lifetime: .persistent, origin: client.id)
            let tenure = try #require(Tenure(entry))
            return Tenure.encoded(released: tenure.isReleased ? tenure.epoch : nil)
        }
    }
}
