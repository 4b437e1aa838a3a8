internal import Coordination
internal import CoreAPI

/// C20, C21: the content of a message, and its identity.
enum OpenMessageCases {
    static let all = [details, otherReleases, pages, sequences]

    /// A message of an application's kind with everything that a message may have.
    private static let poll: InboxMessage.Content = {
        var content = InboxMessage.Content.text(from: "ann", to: "bob", text: "Tea or coffee?")
        content.kind = InboxMessage.Kind("poll") ?? .other
        (content.account, content.conversation) = ("sip:bob@example.org", "kitchen")
        (content.time, content.contentType) = (.milliseconds(1_700_000_000_123), "application/json")
        (content.body, content.fields) = ([0, 255, 10], ["choices": "2", "x.until": "noon"])
        return content
    }()

    static let details = ConformanceCase(
        "C20a", "a message of an application's kind arrives with all its fields, from Main and without one"
    ) { context in
        let answer =
            "open SOURCE poll ann bob Tea or coffee? sip:bob@example.org kitchen 1700000000123 application/json AP8K "
            + "choices 2 x.until noon"
        for mainOwns in [true, false] {
            try await context.withTestCluster { testCluster in
                if mainOwns { _ = try await testCluster.owningMain() }
                let executor = try await testCluster.executor()
                try await executor.ask("call-1")
                try await testCluster.waits(1)
                try testCluster.receive("call-1", poll)
                let source = mainOwns ? "inbox" : "core"
                try expect(
                    try await executor.answer(), is: answer.replacing("SOURCE", with: source), "what it gets")
                try expect(try await executor.tell("acknowledge 1"), is: "true", "its acknowledgement")
                let rest = try await testCluster.observer.list(".sharedcore/inbox").entries.map(\.key.text)
                try expect(rest, is: [".sharedcore/inbox/call-1/a"], "what is left of it")
            }
        }
    }

    static let otherReleases = ConformanceCase(
        "C20b", "records of the release before are shown, and fields that a later release adds are ignored"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open("store")
            let inbox = try Inbox(store)
            func state(_ name: String, _ message: [UInt8], _ details: [UInt8]?) async throws -> InboxState {
                var transaction = Transaction()
                transaction.put(try Key(".sharedcore/inbox/\(name)/m"), message)
                if let details { transaction.put(try Key(".sharedcore/inbox/\(name)/d"), details) }
                _ = try await store.commit(transaction)
                return try await inbox.state(of: expectSome(CallID(name), "a call-id"))
            }
            func stored(_ name: String, _ content: InboxMessage.Content) throws -> InboxState {
                .stored(InboxMessage(callID: try expectSome(CallID(name), "a call-id"), content: content))
            }
            func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
            func record(_ name: String, _ tag: UInt8, _ texts: String...) -> [UInt8] {
                [1] + text(name) + [tag] + texts.flatMap(text)
            }
            let plain = InboxMessage.Content.text(from: "ann", to: "bob", text: "hi")
            let hello = { (name: String) in record(name, 1, "ann", "bob", "hi") }
            try expect(
                try await state("before", hello("before"), nil), is: try stored("before", plain), "a text of before")
            try expect(
                try await state("room", record("room", 3, "ann", "tea", "bob"), nil),
                is: try stored("room", .invitation(from: "ann", subject: "tea", localAddress: "bob")),
                "an invitation of before")
            var newer = plain
            newer.kind = try expectSome(InboxMessage.Kind("of-tomorrow"), "a kind")
            newer.account = "bob"
            try expect(
                try await state("field", hello("field"), [1] + text("of-tomorrow") + [99, 2, 1, 2, 1] + text("bob")),
                is: try stored("field", newer), "an unknown kind, with an unknown field")
            newer = plain
            newer.kind = .other
            try expect(
                try await state("version", hello("version"), [2, 7, 7]), is: try stored("version", newer),
                "details of a later version")
            for damage in [[], [0], [1, 200], [1, 1, 97, 3, 1, 0]] as [[UInt8]] {
                try expect(
                    try await code { try await state("damage", hello("damage"), damage) }, is: .corrupt,
                    "what damaged details are: \(damage)")
            }
            // An earlier program that does not know details may leave those of one message: they must not count for the
            // next.
            try await store.put(".sharedcore/inbox/before/m", hello("before"))
            try await store.put(".sharedcore/inbox/before/d", [1] + text("poll"))
            let callID = try expectSome(CallID("before"), "a call-id")
            try expect(
                try await inbox.state(of: callID), is: try stored("before", plain), "details of another commit")
        }
    }

    static let pages = ConformanceCase(
        "C20c", "the inbox is listed in pages, the oldest first, also what is in hand, and without what is acknowledged"
    ) { context in
        try await context.withGroup { group in
            let inbox = try Inbox(try await group.open("store"))
            // In an order different from that of their names.
            let names = ["e", "a", "d", "b", "c"]
            for name in names {
                try await inbox.store(
                    InboxMessage(callID: try expectSome(CallID(name), "a call-id"), content: poll))
            }
            let reader = try await group.open("reader", role: .executor)
            let other = try Inbox(reader)
            guard case .taken(let shown) = try await other.take(expectSome(CallID("d"), "a call-id")),
                case .taken = try await other.take(expectSome(CallID("c"), "a call-id"))
            else { throw CheckFailure("what is stored can be taken", #fileID, #line) }
            try await other.acknowledge(shown)
            var pages: [InboxPage] = []
            repeat {
                pages.append(try await inbox.messages(after: pages.last?.next ?? .zero, limit: 2))
            } while pages.last?.next != nil
            let listed = pages.flatMap(\.messages)
            try expect(listed.map(\.message.callID.text), is: ["e", "a", "b", "c"], "the order")
            try expect(pages.map(\.messages.count), is: [2, 2], "the sizes of the pages")
            try expect(listed.map(\.takenBy), is: [nil, nil, nil, reader.session.id], "what is in hand")
            try expect(listed.map(\.message.content), is: Array(repeating: poll, count: 4), "what they carry")
        }
    }

    static let sequences = ConformanceCase(
        "C21a",
        "two messages of one call-id are told apart by their sequences, and a wait by the call-id alone gets each once"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.executor()
            try await executor.ask("call-1", as: 1, sequence: "2")
            try await testCluster.waits(1)
            // No call waits for the first message. The core continues to run for the second one.
            try testCluster.receive("call-1", .text(from: "ann", to: "bob", text: "one"), sequence: "1")
            try await testCluster.stored("call-1")
            for _ in 1...2 {
                try testCluster.receive("call-1", .text(from: "ann", to: "bob", text: "two"), sequence: "2")
            }
            try expect(try await executor.answer(1), is: "message core ann bob two", "what has the sequence")
            try await executor.ask("call-1", as: 2)
            try expect(try await executor.answer(2), is: "message core ann bob one", "the other one")
            let second = try await testCluster.executor("second")
            try await second.ask("call-1")
            // Both messages are in the hands of participants.
            try await testCluster.waits(1)
            try await executor.tell("giveBack 2")
            try expect(try await second.answer(), is: "message inbox ann bob one", "what was given back")
            try expect(try await second.tell("acknowledge 1"), is: "true", "its acknowledgement")
            try expect(try await executor.tell("acknowledge 1"), is: "true", "that of the other")
            try await second.ask("call-1", as: 2)
            try expect(try await second.answer(2), is: "nothing inbox", "what is asked for afterwards")
            try expect(try testCluster.server.acknowledgedCount(), is: 3, "what was acknowledged to the server")
        }
    }
}
