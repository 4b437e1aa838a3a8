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
        #expect(until { texts.allSatisfy { shown($0) > 0 } }, "\(texts.filter { shown($0) == 0 })")
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
        #expect(main.quit() == 0)
        #expect(texts.filter { shown($0) != 1 } == [])
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
            said += String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
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
