import Foundation
import Testing

/// Many messages, and many kills: SOFTPHONE_MESSAGES and SOFTPHONE_KILLS set how many.
extension SoftphoneTests {
    private static func count(_ name: String, or usual: Int) -> Int {
        Registrar.variables[name].flatMap { Int($0) } ?? usual
    }

    @Test("Many messages for a telephone that sleeps: each that was accepted is shown once")
    func manyMessages() throws {
        let phone = try Phone("many")
        try Registrar.wake(phone)
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        let witness = try Witness(of: phone)
        defer { witness.end() }
        let texts = (1...Self.count("SOFTPHONE_MESSAGES", or: 40)).map { "many-\($0)-\(phone.user)" }
        for (index, text) in texts.enumerated() {
            far.message(text)
            guard index % 8 == 7 else { continue }
            // At most eight Executors at once, of which one has the core.
            let isDone = try until(60) { try far.messageAnswers.count > index && executors(of: phone) == 0 }
            try #require(isDone)
        }
        #expect(until { far.messageAnswers.count == texts.count })
        #expect(texts.allSatisfy { far.messageAnswers["\($0)@far"]?.hasPrefix("SIP/2.0 2") == true })
        #expect(try until(60) { try executors(of: phone) == 0 })
        let shown = phone.pushes
        #expect(texts.filter { shown.count(of: ": \($0)\n") != 1 } == [])
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
        witness.endAndCheck()
        print("\(texts.count) messages, \(witness.registers.count / 2) registrations, \(phone.pushCount) pushes")
    }

    private func executors(of phone: Phone) throws -> Int {
        let (_, text) = try Command.run("pgrep", "-fc", "softphone push \(phone.directory)")
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test("Main is killed again and again while messages come: no message is lost, and there is one contact")
    func manyKills() throws {
        let phone = try Phone("kills")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        let witness = try Witness(of: phone)
        defer { witness.end() }
        var mains: [Running] = []
        var texts: [String] = []
        for turn in 1...Self.count("SOFTPHONE_KILLS", or: 10) {
            let main = try phone.main()
            mains.append(main)
            if turn % 2 == 0 { try main.says("registered: ") }
            texts.append("kill-\(turn)-\(phone.user)")
            far.message(texts[turn - 1])
            usleep(.random(in: 0..<150_000))
            main.kill9()
        }
        #expect(until { far.messageAnswers.count == texts.count })
        let accepted = texts.filter { far.messageAnswers["\($0)@far"]?.hasPrefix("SIP/2.0 2") == true }
        #expect(accepted.count >= texts.count - 1, "the registrar keeps a message that no client takes")
        let last = try phone.main()
        mains.append(last)
        try last.says("registered: 1 of 1")
        func shown(_ text: String) -> Int { phone.shown(": \(text)\n", by: mains) }
        // A Main that is killed between a text and its acknowledgement has shown it, and the next one shows it again (C10).
        #expect(until(60) { accepted.allSatisfy { shown($0) > 0 } }, "\(accepted.filter { shown($0) == 0 })")
        #expect(accepted.filter { phone.shown("received: \($0)@far\n", by: mains) > 1 } == [])
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
        #expect(last.quit() == 0)
        witness.endAndCheck()
        print("\(mains.count - 1) kills; shown twice: \(accepted.filter { shown($0) > 1 }.count) of \(accepted.count)")
    }
}

extension Phone {
    /// How many Executors pushes have started.
    var pushCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).count { $0.hasPrefix("pushed-") }
    }
}
