import Foundation
import Testing

/// Calls from the telephone.
extension SoftphoneTests {
    private func callID(in main: Running) throws -> String {
        try main.says("calls: ")
        let line = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("calls: ") })
        return String(line.dropFirst("calls: ".count))
    }

    private func calling(_ user: String, over transport: String = "tcp") throws -> (Phone, Running) {
        let phone = try Phone("out", transport: transport)
        let main = try phone.main()
        try main.says("registered: 1")
        main.type("call sip:\(user)@sc.test")
        return (phone, main)
    }

    @Test(
        "A call rings at the other side, is answered, has RTP both ways, and is hung up here",
        arguments: ["udp", "tcp"])
    func calls(over transport: String) throws {
        let user = "carol\(UInt32.random(in: 1_000..<9_999))"
        let far = try FarEnd("answers", as: user)
        let (phone, main) = try calling(user, over: transport)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) ringing to sip:\(user)@sc.test") })
        #expect(try until { try phone.calls().contains("\(id) answered to") })
        usleep(500_000)
        #expect(try phone.command("hangup", id) == 0)
        try main.says("ended: \(id) hungUp")
        #expect(far.succeeds())
        let end = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("ended: ") })
        let numbers = end.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers.allSatisfy { $0 > 10 }, "\(end)")
        #expect(main.quit() == 0)
    }

    @Test("A call that the other side hangs up has ended")
    func callIsHungUp() throws {
        let user = "carol\(UInt32.random(in: 1_000..<9_999))"
        let far = try FarEnd("answers-and-hangs-up", as: user)
        let (phone, main) = try calling(user)
        let id = try callID(in: main)
        try main.says("ended: \(id) remoteHungUp")
        #expect(far.succeeds())
        #expect(try phone.calls().contains("\(id) ended: remoteHungUp to"))
        #expect(main.quit() == 0)
    }

    @Test("A call to a side that is busy ends as busy; one that nobody answers fails with the status")
    func isBusy() throws {
        let user = "carol\(UInt32.random(in: 1_000..<9_999))"
        let far = try FarEnd("busy", as: user)
        let (phone, main) = try calling(user)
        let id = try callID(in: main)
        try main.says("ended: \(id) busy")
        #expect(far.succeeds())
        #expect(try phone.calls().contains("\(id) ended: busy"))
        main.type("call bob")
        try main.says("failed: ")
        #expect(main.quit() == 0)
    }

    @Test("A call that is hung up while it rings is cancelled", arguments: ["udp", "tcp"])
    func cancels(over transport: String) throws {
        let user = "carol\(UInt32.random(in: 1_000..<9_999))"
        let far = try FarEnd("rings-until-cancelled", as: user)
        let (phone, main) = try calling(user, over: transport)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) ringing") })
        #expect(try phone.command("hangup", id) == 0)
        try main.says("ended: \(id) hungUp")
        #expect(far.succeeds())
        #expect(main.quit() == 0)
    }

    @Test("An INVITE that is challenged is sent again with credentials", arguments: [401, 407])
    func isChallenged(with status: Int) throws {
        let far = try FarTelephone(as: "carol\(UInt32.random(in: 1_000..<9_999))")
        defer { far.close() }
        far.answer(invitesWith: status)
        let (phone, main) = try calling(far.user)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) answered") })
        let header = status == 401 ? "Authorization" : "Proxy-Authorization"
        for method in ["INVITE ", "ACK "] {
            let last = far.log.last { $0.line.hasPrefix(method) }
            #expect(last?.all(header).contains { $0.contains("realm=\"far\"") } == true, "\(method)")
        }
        #expect(main.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
    }

    @Test("A call is held and resumed from here, and stays as it is where the other side refuses")
    func holds() throws {
        let far = try FarTelephone(as: "carol\(UInt32.random(in: 1_000..<9_999))")
        defer { far.close() }
        let (phone, main) = try calling(far.user)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) answered") })
        #expect(until { far.acknowledgements == 1 })
        far.answerAgain()
        #expect(until { far.acknowledgements == 2 }, "a repeated 200 gets another ACK")
        func lastDirection() -> String? { far.log.last { $0.line.hasPrefix("INVITE ") }?.direction }
        #expect(try phone.command("resume", id) != 0, "it is not held")
        #expect(try phone.command("hold", id) == 0)
        #expect(lastDirection() == "sendonly")
        #expect(try phone.calls().contains("\(id) held"))
        #expect(try phone.command("hold", id) != 0, "it is held")
        far.answer(invitesWith: 488)
        #expect(try phone.command("resume", id) != 0)
        #expect(lastDirection() == "sendrecv")
        #expect(try phone.calls().contains("\(id) held"))
        // A request of the other side does not end the hold.
        far.inviteAgain("")
        #expect(until { far.log.last { $0["CSeq"] == "2 INVITE" }?.direction == "sendonly" })
        #expect(try phone.calls().contains("\(id) held"))
        far.answer(invitesWith: 500)
        #expect(try phone.command("resume", id) == 0, "it is sent again")
        #expect(try phone.calls().contains("\(id) answered"))
        #expect(lastDirection() == "sendrecv")
        let versions = far.log.filter { $0.line.hasPrefix("INVITE ") }.compactMap(\.version)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 <= $1 } && Set(versions).count >= 3, "\(versions)")
        far.answer(invitesWith: 481)
        #expect(try phone.command("hold", id) != 0)
        try main.says("ended: \(id) remoteHungUp")
        #expect(main.quit() == 0)
        #expect(far.isOneStream)
    }

    @Test("C25: a call that is held from here moves, stays held, and is resumed by the next Main")
    func movesHeld() throws {
        let far = try FarTelephone(as: "carol\(UInt32.random(in: 1_000..<9_999))")
        defer { far.close() }
        let (phone, main) = try calling(far.user)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) answered") })
        #expect(try phone.command("hold", id) == 0)
        let next = try phone.takeOver()
        try next.says("goes on: \(id)")
        #expect(until { far.count(of: "ACK") == 3 })
        #expect(far.log.last { $0.line.hasPrefix("INVITE ") }?.direction == "sendonly")
        _ = main.wait()
        #expect(try phone.calls().contains("\(id) held"))
        #expect(try phone.command("resume", id) == 0)
        #expect(try phone.calls().contains("\(id) answered"))
        #expect(next.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(far.isOneStream)
    }

    @Test("C25: a call from here moves to the next Main, too, and the other side hangs it up")
    func movesOutgoing() throws {
        let far = try FarTelephone(as: "carol\(UInt32.random(in: 1_000..<9_999))")
        defer { far.close() }
        let (phone, main) = try calling(far.user)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) answered") && far.packets.count > 10 })
        far.answer(invitesWith: 491)
        let next = try phone.takeOver()
        try next.says("goes on: \(id)")
        let moved = ContinuousClock.now
        // It made the Call-ID, so it waits for 2.1 s at least (RFC 3261, 14.1). Each of three answers has an ACK.
        #expect(until { far.count(of: "ACK") == 3 })
        #expect(ContinuousClock.now - moved > .seconds(2))
        _ = main.wait()
        far.bye()
        try next.says("ended: \(id) remoteHungUp")
        #expect(next.quit() == 0)
        #expect(far.isOneStream)
    }

    @Test("A telephone that ends while its call rings cancels it")
    func endsWhileItRings() throws {
        let user = "carol\(UInt32.random(in: 1_000..<9_999))"
        let far = try FarEnd("rings-until-cancelled", as: user)
        let (phone, main) = try calling(user)
        let id = try callID(in: main)
        #expect(try until { try phone.calls().contains("\(id) ringing") })
        #expect(main.quit() == 0)
        #expect(far.succeeds())
        #expect(try phone.calls().contains("\(id) ended: hungUp"))
    }
}
