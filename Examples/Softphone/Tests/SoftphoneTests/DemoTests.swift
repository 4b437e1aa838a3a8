import Foundation
import Testing

/// The claims of `make demo-sip`, each by a telephone, its registrar and a far end. The title of a test is the claim.
///
/// T and a number is a row of the table of connectivity in the guide of background life.
extension SoftphoneTests {
    /// Runs a telephone beside a witness, which must have seen at most one contact of it at any time.
    private func witnessed(_ phone: Phone, _ body: (Witness) throws -> Void) throws {
        let witness = try Witness(of: phone)
        defer { witness.end() }
        try body(witness)
        witness.endAndCheck()
        // The registrar removes a delivered message within seconds.
        #expect(try until { try Registrar.stored(for: phone.user) == 0 })
    }

    @Test("Ten messages for a telephone that sleeps have ten pushes, and each message is shown once")
    func demoTenPushes() throws {
        let phone = try Phone("demo")
        try Registrar.wake(phone)
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        try witnessed(phone) { witness in
            for number in 1...10 {
                let text = "tea-\(number)-\(phone.user)"
                far.message(text)
                try #require(until { phone.pushed("\(text)@far").contains("unregistered: 200") }, "\(phone.pushes)")
            }
            for number in 1...10 {
                let text = "tea-\(number)-\(phone.user)"
                #expect(phone.pushed("\(text)@far").count(of: ": \(text)\n") == 1)
                #expect(phone.pushes.count(of: ": \(text)\n") == 1)
            }
            // Each Executor registers once and removes its contact; digest repeats nothing that is logged.
            #expect(witness.registers.count == 20, "\(witness.registers)")
            #expect(try Registrar.contacts(of: phone.user).isEmpty)
        }
    }

    @Test("Ten messages at once for a telephone that sleeps are shown once each, also those that come without a push")
    func demoTenAtOnce() throws {
        let phone = try Phone("demo")
        try Registrar.wake(phone)
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        try witnessed(phone) { _ in
            let texts = (1...10).map { "cake-\($0)-\(phone.user)" }
            for text in texts { far.message(text) }
            #expect(until { far.messageAnswers.count == texts.count })
            #expect(far.messageAnswers.values.allSatisfy { $0.hasPrefix("SIP/2.0 2") }, "\(far.messageAnswers)")
            try #require(
                until(40) { texts.allSatisfy { phone.pushes.contains(": \($0)\n") } },
                "\(texts.filter { !phone.pushes.contains(": \($0)\n") }): \(phone.pushes)")
            try #require(try until { try Registrar.contacts(of: phone.user).isEmpty })
            #expect(texts.filter { phone.pushes.count(of: ": \($0)\n") != 1 } == [])
        }
    }

    @Test("A call that its caller cancels before a process wakes rings nowhere")
    func demoCancelledCall() throws {
        let phone = try Phone("demo")
        let far = try FarTelephone(to: phone.user, callID: "cancelled-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { _ in
            far.invite()
            try #require(until { far.count(of: "SIP/2.0 100") >= 1 })
            far.cancel()
            try #require(until { far.count(of: "SIP/2.0 487") == 1 }, "\(far.log.map(\.line))")
            let executor = try phone.push(far.id)
            try executor.says("registered: 1 of 1")
            // A message that is sent now comes behind those that the registrar keeps for the telephone.
            far.message("after-\(phone.user)")
            try executor.says(": after-\(phone.user)\n")
            #expect(executor.wait() != 0, "its call does not come")
            #expect(!executor.output.contains("rings"))
            #expect(try phone.calls().isEmpty)
        }
    }

    @Test("A call that rings in an Executor is answered by the user of Main, and goes on there")
    func demoRingsInExecutor() throws {
        let phone = try Phone("demo")
        try Registrar.wake(phone)
        let far = try FarTelephone(to: phone.user, callID: "rings-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { _ in
            far.invite()
            try #require(until { phone.pushed(far.id).contains("rings: \(far.id)") }, "\(phone.pushed(far.id))")
            let main = try phone.main()
            try main.says("waits for a call of another process")
            main.type("answer \(far.id)")
            try main.says("goes on: \(far.id)")
            try untilMoved(far, invites: 1)
            far.bye()
            try main.says("ended: \(far.id) remoteHungUp")
            #expect(!phone.pushed(far.id).contains("ended: "), "it ended in Main")
            #expect(main.quit() == 0)
            #expect(far.isOneStream)
            #expect(try Registrar.contacts(of: phone.user).isEmpty)
        }
    }

    @Test("A call that an Executor has answered goes on in Main when Main starts: one stream, no packet lost")
    func demoAnsweredInExecutor() throws {
        let phone = try Phone("demo")
        try Registrar.wake(phone)
        let far = try FarTelephone(to: phone.user, callID: "answered-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { _ in
            far.invite()
            try #require(until { phone.pushed(far.id).contains("rings: \(far.id)") }, "\(phone.pushed(far.id))")
            #expect(try phone.command("answer", far.id) == 0)
            try #require(until { far.isAnswered && far.packets.count > 10 })
            let port = try #require(far.packets.first?.port)
            let executor = try senders(from: port)
            let main = try phone.main()
            try main.says("goes on: \(far.id)")
            try untilMoved(far, invites: 1)
            #expect(try until { try senders(from: port) == [main.pid] })
            #expect(executor.count == 1 && !executor.contains(main.pid))
            far.message("in-call-\(phone.user)")
            try main.says(": in-call-\(phone.user)\n")
            far.bye()
            try main.says("ended: \(far.id) remoteHungUp")
            #expect(main.quit() == 0)
            #expect(far.isOneStream)
            #expect(far.longestGap(from: 0) <= 1_000)
        }
    }

    @Test("T18: Main is killed in a call: the call is lost, and the next Main has the only contact and the next call")
    func demoKilledInCall() throws {
        let phone = try Phone("demo")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        let far = try FarTelephone(to: phone.user, callID: "killed-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { witness in
            far.invite()
            try main.says("rings: \(far.id)")
            main.type("answer \(far.id)")
            try #require(until { far.isAnswered && far.packets.count > 10 })
            main.kill9()
            #expect(try until { try phone.calls().contains("\(far.id) ended: lost") })
            let next = try phone.main()
            try next.says("registered: 1 of 1")
            let second = try FarTelephone(to: phone.user, callID: "second-\(phone.user)@far")
            defer { second.close() }
            second.invite()
            try next.says("rings: \(second.id)")
            next.type("answer \(second.id)")
            try #require(until { second.isAnswered && second.packets.count > 10 })
            #expect(next.quit() == 0)
            #expect(until { second.count(of: "BYE") == 1 })
            #expect(Set(witness.seen.map(\.connection)).count == 2)
        }
    }

    @Test("T6, T11: a Main that rests is woken over its TCP connection by a message and by a call, without a REGISTER")
    func demoRestingMain() throws {
        let phone = try Phone("demo")
        let holder = try Running(["hold", phone.directory], in: phone.directory, named: "holder")
        try holder.says("holds")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        let far = try FarTelephone(to: phone.user, callID: "resting-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { witness in
            main.type("rest")
            try main.says("rests\n")
            far.message("asleep-\(phone.user)")
            try main.says(": asleep-\(phone.user)\n")
            try main.says("awake\n")
            main.type("rest")
            #expect(until { main.output.count(of: "rests\n") == 2 })
            far.invite()
            try main.says("rings: \(far.id)")
            main.type("answer \(far.id)")
            try #require(until { far.isAnswered && far.packets.count > 10 })
            far.bye()
            try main.says("ended: \(far.id) remoteHungUp")
            #expect(witness.registers.isEmpty)
            #expect(Set(witness.seen).count == 1)
            #expect(main.quit() == 0)
            #expect(holder.quit() == 0)
        }
    }

    @Test("T15: a Main that rests refreshes its registration, and has the same contact")
    func demoRefreshAtRest() throws {
        let phone = try Phone("demo", lines: ["expires 10"])
        let holder = try Running(["hold", phone.directory], in: phone.directory, named: "holder")
        try holder.says("holds")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        try witnessed(phone) { witness in
            for turn in 1...2 {
                main.type("rest")
                #expect(until { main.output.count(of: "rests\n") >= turn })
                #expect(until { main.output.count(of: "registered: 1 of 1") > turn }, "\(main.output)")
            }
            #expect(Set(witness.seen).count == 1)
            #expect(main.quit() == 0)
            #expect(holder.quit() == 0)
        }
    }

    @Test("A call after the end of a Main that rested wakes an Executor: one new connection, one contact")
    func demoExitAtRest() throws {
        let phone = try Phone("demo")
        try Registrar.wake(phone)
        let holder = try Running(["hold", phone.directory], in: phone.directory, named: "holder")
        try holder.says("holds")
        let main = try phone.main()
        try main.says("registered: 1 of 1")
        let far = try FarTelephone(to: phone.user, callID: "ended-\(phone.user)@far")
        defer { far.close() }
        try witnessed(phone) { witness in
            #expect(until { witness.seen.count == 1 })
            main.type("rest")
            try main.says("rests\n")
            main.kill9()
            far.invite()
            try #require(until { phone.pushed(far.id).contains("rings: \(far.id)") }, "\(phone.pushed(far.id))")
            #expect(try phone.command("answer", far.id) == 0)
            try #require(until { far.isAnswered && far.packets.count > 10 })
            far.bye()
            #expect(until { phone.pushed(far.id).contains("unregistered: 200") }, "\(phone.pushed(far.id))")
            #expect(Set(witness.seen.map(\.connection)).count == 2, "\(witness.seen)")
            #expect(witness.registers.count == 2, "one binds, one removes: \(witness.registers)")
            #expect(holder.quit() == 0)
        }
    }

    @Test(
        "T1, T2: the network is lost and comes back: one contact, and a message that was sent meanwhile is shown once",
        .enabled(if: Registrar.network != nil, "Only root can make a network namespace."))
    func demoNetworkLost() throws {
        let network = try #require(Registrar.network)
        let phone = try Phone("demo", lines: ["registrar \(network.address)", "expires 10"])
        let main = try phone.main(in: network.namespace)
        try main.says("registered: 1 of 1")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        try witnessed(phone) { _ in
            try Command.run("ip", "link", "set", network.link, "down")
            far.message("lost-\(phone.user)")
            #expect(until { far.messageAnswers.count == 1 })
            #expect(far.messageAnswers.values.first?.hasPrefix("SIP/2.0 202") == true, "it is stored")
            #expect(try Registrar.stored(for: phone.user) == 1)
            let before = main.output.count(of: "registered: 1 of 1")
            try Command.run("ip", "link", "set", network.link, "up")
            try main.says(": lost-\(phone.user)\n", within: 60)
            #expect(until(60) { main.output.count(of: "registered: 1 of 1") > before }, "\(main.output)")
            #expect(try until { try Registrar.stored(for: phone.user) == 0 })
            far.message("back-\(phone.user)")
            try main.says(": back-\(phone.user)\n")
            #expect(try Registrar.contacts(of: phone.user).count == 1)
            #expect(main.quit() == 0)
            #expect(main.output.count(of: ": lost-\(phone.user)\n") == 1)
        }
    }
}
