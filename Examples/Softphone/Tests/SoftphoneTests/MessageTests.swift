import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation
import Testing

/// Each message is shown once, by one of the processes.
extension SoftphoneTests {
    @Test("An Executor shows each message that its core receives, because the registrar sends no push for it")
    func messagesWithoutPush() throws {
        let phone = try Phone("extra")
        try Registrar.wake(phone)
        let executor = try phone.push("never-1@bob")
        try executor.says("registered: 1")
        let senders = try (1...3).map { try FarEnd("message", to: phone.user, callID: "extra\($0)") }
        for sender in senders { #expect(sender.succeeds()) }
        for sender in senders { try executor.says("hello \(sender.callID)") }
        let main = try phone.main()
        try main.says("registered: 1")
        #expect(try FarEnd("message", to: phone.user, callID: "later").succeeds())
        try main.says("hello later-1@bob")
        _ = executor.wait()  // its own message never comes
        for sender in senders {
            #expect(phone.shown("hello \(sender.callID)", by: [executor, main]) == 1)
            #expect(phone.pushed(sender.callID).isEmpty, "it was pushed as well")
        }
        #expect(main.quit() == 0)
    }

    @Test("Main shows each message that another process has received and not shown, the oldest first")
    func messagesOfOthers() async throws {
        let phone = try Phone("left")
        let group = try await FileGroup.open(directory: phone.directory + "/group", as: SessionDescription(role: .tool))
        let inbox = try Inbox(group)
        for name in ["b", "a", "c"] {
            let id = try #require(CallID("\(name)@left"))
            try await inbox.store(
                InboxMessage(callID: id, content: .text(from: "sip:bob@sc.test", to: "me", text: "hello \(name)")))
        }
        // An Executor has one of them in hand, and ends without showing it.
        let other = try await FileGroup.open(
            directory: phone.directory + "/group", as: SessionDescription(role: .executor))
        let id = try #require(CallID("a@left"))
        guard case .taken = try await Inbox(other).take(id) else { throw CancellationError() }
        let main = try phone.main()
        try main.says("hello c")
        #expect(!main.output.contains("hello a"))
        await other.close()
        try main.says("hello a")
        let shown = main.output.split(separator: "\n").filter { $0.contains("hello") }.map { String($0.suffix(1)) }
        #expect(shown == ["b", "c", "a"])
        #expect(try await until { try await inbox.messages(limit: 9).messages.isEmpty })
        await group.close()
        #expect(main.quit() == 0)
    }

    @Test("Ten messages at once for a telephone that sleeps, and Main starts meanwhile: each is shown once")
    func tenMessages() throws {
        let phone = try Phone("ten")
        try Registrar.wake(phone)
        let texts = (1...10).map { "ten-\($0)-\(phone.user)" }
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        for text in texts { far.message(text) }
        #expect(until { texts.contains { phone.pushed("\($0)@far").contains("registered: 1") } })
        let main = try phone.main()
        try main.says("registered: 1")
        #expect(until { far.messageAnswers.count == texts.count })
        #expect(texts.allSatisfy { far.messageAnswers["\($0)@far"]?.hasPrefix("SIP/2.0 2") == true })
        func shown(_ text: String) -> Int {
            phone.shown(": \(text)\n", by: [main]) + phone.pushes.count(of: ": \(text)\n")
        }
        // The registrar stores a message that is not answered in 3 s, and sends it at the next refresh, after 30 s.
        #expect(until(60) { texts.allSatisfy { shown($0) > 0 } }, "\(texts.filter { shown($0) == 0 })")
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
        #expect(main.quit() == 0)
        #expect(texts.filter { shown($0) != 1 } == [])
    }

    @Test("A Main that quits while it shows messages finishes the one in hand: the next Main does not show it again")
    func quitWhileShowing() async throws {
        let phone = try Phone("quits")
        let texts = (1...400).map { "quit-\($0)-\(phone.user)" }
        try await store(texts, in: phone)
        var mains: [Running] = []
        func shown() -> Int { phone.shown(": quit-", by: mains) }
        // Each Main quits when it has shown a message, while it shows the next ones.
        while shown() < texts.count {
            let before = shown()
            let main = try phone.main()
            mains.append(main)
            try #require(until { shown() > before }, "\(main.output)")
            #expect(main.quit() == 0)
        }
        #expect(mains.count > 3, "each Main has shown too many messages before it quit")
        #expect(texts.filter { phone.shown(": \($0)\n", by: mains) != 1 } == [])
    }

    @Test("C26: a Main that rests has no watch of the messages: it shows what another process stored when it wakes")
    func storedAtRest() async throws {
        let phone = try Phone("stored")
        let holder = try Running(["hold", phone.directory], in: phone.directory, named: "holder")
        try holder.says("holds")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        main.type("rest")
        try main.says("rests\n")
        try await store(["meanwhile-\(phone.user)"], in: phone)
        #expect(try FarEnd("message", to: phone.user, callID: "wakes").succeeds())
        try main.says("hello wakes-1@bob")
        try main.says(": meanwhile-\(phone.user)\n")
        let lines = main.output.split(separator: "\n")
        let awake = try #require(lines.firstIndex(of: "awake"), "\(main.output)")
        #expect(lines[..<awake].allSatisfy { !$0.contains("meanwhile") }, "\(main.output)")
        #expect(main.quit() == 0)
        #expect(holder.quit() == 0)
    }

    @Test("A text that is compressed gets 415, and is not shown")
    func compressedText() throws {
        let phone = try Phone("packed")
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        let texts = ["packed", "plain"].map { "\($0)-\(phone.user)" }
        far.message(texts[0], "Content-Encoding: deflate")
        far.message(texts[1], "Content-Encoding: identity")
        #expect(until { far.messageAnswers.count == 2 })
        let answers = texts.map { far.messageAnswers["\($0)@far"] ?? "" }
        #expect(answers[0].hasPrefix("SIP/2.0 415") && answers[1].hasPrefix("SIP/2.0 200"), "\(answers)")
        try main.says(": \(texts[1])\n")
        #expect(!main.output.contains(": \(texts[0])\n"))
        #expect(main.quit() == 0)
    }

    @Test("C26: a Main that rests registers at once when a push came for a message that the registrar has stored")
    func pushedAtRest() throws {
        let phone = try Phone("pushed", lines: ["expires 600"])
        try Registrar.wake(phone)
        let holder = try Running(["hold", phone.directory], in: phone.directory, named: "holder")
        try holder.says("holds")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        main.type("rest")
        try main.says("rests\n")
        try Registrar.forget(phone.user)
        let sender = try FarEnd("message", to: phone.user, callID: "pushed")
        #expect(sender.succeeds())
        let text = ": hello \(sender.callID)\n"
        #expect(until { main.output.contains(text) || phone.pushed(sender.callID).contains(text) }, "\(main.output)")
        #expect(main.output.count(of: text) + phone.pushed(sender.callID).count(of: text) == 1)
        #expect(main.output.count(of: "registered: 1 of 1") == 2, "\(main.output)")
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
        // The Executor shows the message, or has nothing to show because Main has.
        #expect(until { !phone.pushed(sender.callID).isEmpty })
        #expect(main.quit() == 0)
        #expect(holder.quit() == 0)
    }

    /// Stores texts in the inbox, as a core of the group does. Their Call-IDs are the texts.
    private func store(_ texts: [String], in phone: Phone) async throws {
        let group = try await FileGroup.open(directory: phone.directory + "/group", as: SessionDescription(role: .tool))
        let inbox = try Inbox(group)
        for text in texts {
            let id = try #require(CallID("\(text)@stored"))
            try await inbox.store(
                InboxMessage(callID: id, content: .text(from: "sip:bob@sc.test", to: "me", text: text)))
        }
        await group.close()
    }

    @Test("The workers of the registrar wait for its database side by side: neither keeps the other one")
    func databaseIsLocked() throws {
        let phone = try Phone("locked")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        let lock = Process()
        let input = Pipe()
        let output = Pipe()
        lock.executableURL = URL(filePath: "/usr/bin/env")
        lock.arguments = ["sqlite3", "\(Registrar.directory)/messages.db"]
        lock.standardInput = input
        lock.standardOutput = output
        try lock.run()
        defer { lock.waitUntilExit(atMost: 5) }
        input.fileHandleForWriting.write(Data("PRAGMA busy_timeout=5000; BEGIN IMMEDIATE; SELECT 'locked';\n".utf8))
        var said = ""
        while !said.contains("locked") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "sqlite3 has ended: \(said)")
            said += String(decoding: data, as: UTF8.self)
        }
        var answered: [String: ContinuousClock.Instant] = [:]
        let texts = ["locked-1-\(phone.user)", "locked-2-\(phone.user)"]
        for text in texts { far.message(text) }
        #expect(
            until {
                for text in texts where answered[text] == nil {
                    answered[text] = far.messageAnswers["\(text)@far"].map { _ in .now }
                }
                return answered.count == texts.count
            })
        try input.fileHandleForWriting.close()
        #expect(far.messageAnswers.values.allSatisfy { $0.hasPrefix("SIP/2.0 503") }, "\(far.messageAnswers)")
        // A worker tries for a second. If it kept the lock for that time, the other one would begin only then.
        let times = answered.values.sorted()
        #expect(times.count == 2 && times[1] - times[0] < .milliseconds(900))
    }
}

extension Phone {
    /// How often processes have shown a text.
    func shown(_ text: String, by processes: [Running]) -> Int {
        processes.map { $0.output.count(of: text) }.reduce(0, +)
    }

    /// The outputs of all Executors that pushes have started.
    var pushes: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix("pushed-") }
            .map { pushed(String($0.dropFirst("pushed-".count))) }.joined()
    }
}

/// Waits for a condition of the group.
private func until(_ seconds: Double = 20, _ condition: () async throws -> Bool) async throws -> Bool {
    let limit = Date().addingTimeInterval(seconds)
    while Date() < limit {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(50))
    }
    return try await condition()
}
