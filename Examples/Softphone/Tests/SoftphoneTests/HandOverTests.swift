import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation
import SIPCore
import Testing

/// A call moves to the next process, as the far end hears it (contract C25).
///
/// In the one serialized suite, because its tests block threads of the pool, of which the tests without a registrar need one.
extension SoftphoneTests {
    /// A call that an Executor has answered, with the far end and the telephone.
    func answered(
        _ user: String, over transport: String = "tcp"
    ) throws -> (phone: Phone, far: FarTelephone, executor: Running) {
        let phone = try Phone(
            user, transport: transport,
            lines: transport == "tls" ? ["certificates \(Registrar.directory)/tls/client"] : [])
        let far = try FarTelephone(to: phone.user, callID: "\(phone.user)@far")
        let executor = try phone.push(far.id)
        try executor.says("registered: 1")
        far.invite()
        try executor.says("rings: \(far.id)")
        #expect(try phone.command("answer", far.id) == 0)
        try #require(until { far.isAnswered && far.packets.count > 10 })
        return (phone, far, executor)
    }

    /// Waits until the INVITE of a process has been answered, and packets come from it.
    func untilMoved(_ far: FarTelephone, invites: Int) throws {
        let before = far.packets.count
        try #require(until { far.count(of: "ACK") >= invites }, "\(far.log.map(\.line))")
        try #require(until { far.packets.count > before + 20 }, "\(far.packets.count) packets")
    }

    func senders(from port: UInt16) throws -> Set<Int32> {
        let (_, text) = try Command.run("ss", "-uanpH", "sport", "=", ":\(port)")
        return Set(text.components(separatedBy: "pid=").dropFirst().compactMap { Int32($0.prefix { $0.isNumber }) })
    }

    @Test(
        "C25: a call that an Executor answered goes on in Main: one stream both ways", arguments: ["udp", "tcp", "tls"])
    func executorToMain(over transport: String) throws {
        let (phone, far, executor) = try answered("move", over: transport)
        defer { far.close() }
        let port = try #require(far.packets.first?.port)
        #expect(try senders(from: port) == [executor.pid])
        let main = try phone.main()
        try main.says("goes on: \(far.id)")
        try untilMoved(far, invites: 1)
        #expect(executor.wait() == 0)
        #expect(try senders(from: port) == [main.pid])
        #expect(try phone.calls().contains("\(far.id) answered"))
        #expect(try Registrar.contacts(of: phone.user).count == 1)
        #expect(try FarEnd("message", to: phone.user, callID: "moved").succeeds())
        try main.says("hello moved-1@bob")
        far.bye()
        try main.says("ended: \(far.id) remoteHungUp")
        #expect(main.quit() == 0)
        #expect(far.isOneStream)
        let end = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("ended: ") })
        let numbers = end.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.first == far.packets.count, "\(end)")
        #expect(numbers.last.map { $0 > far.packets.count - 10 } == true, "the Executor's count goes on: \(end)")
    }

    @Test("C25: a call moves ten times, from Main to Main: no packet is lost, and the last one hangs up")
    func tenTimes() throws {
        let (phone, far, executor) = try answered("chain")
        defer { far.close() }
        var former = executor
        var gaps: [Double] = []
        for turn in 1...10 {
            let first = far.packets.count - 1
            let next = try phone.takeOver()
            try next.says("goes on: \(far.id)")
            try untilMoved(far, invites: turn)
            _ = former.wait()
            #expect(try senders(from: far.packets[0].port) == [next.pid])
            gaps.append(far.longestGap(from: first))
            former = next
        }
        #expect(try Registrar.contacts(of: phone.user).count == 1)
        #expect(far.count(of: "INVITE ") == 10, "none was refused")
        #expect(try phone.command("hangup", far.id) == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(former.quit() == 0)
        #expect(far.isOneStream)
        gaps.sort()
        print("gaps of \(gaps.count) hand-overs in ms: median \(gaps[gaps.count / 2]), longest \(gaps.last ?? 0)")
        #expect(gaps.last.map { $0 <= 1_000 } == true)
    }

    @Test(
        "C25: the INVITE of the new process is sent again with credentials, and after a refusal that passes",
        arguments: [401, 407, 491, 500])
    func sendsAgain(after status: Int) throws {
        let (phone, far, executor) = try answered("again")
        defer { far.close() }
        far.answer(invitesWith: status)
        let main = try phone.main()
        try main.says("goes on: \(far.id)")
        try untilMoved(far, invites: 2)
        let invites = far.log.filter { $0.line.hasPrefix("INVITE ") }
        #expect(invites.count == 2 && Set(invites.compactMap { $0["CSeq"] }).count == 2)
        let header = status == 401 ? "Authorization" : "Proxy-Authorization"
        let isSigned = invites.last?.all(header).contains { $0.contains("realm=\"far\"") }
        #expect(isSigned == (status < 480))
        #expect(try phone.command("hangup", far.id) == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
        #expect(far.isOneStream)
    }

    @Test(
        "C25: a far end that does not know the dialog has hung up; one that refuses it gets BYE",
        arguments: [(481, "remoteHungUp"), (408, "failed"), (488, "failed")])
    func isRefused(with status: Int, _ reason: String) throws {
        let (phone, far, executor) = try answered("refused")
        defer { far.close() }
        far.answer(invitesWith: status)
        let main = try phone.main()
        try main.says("ended: \(far.id) \(reason)")
        #expect(try phone.calls().contains("\(far.id) ended: \(reason)"))
        #expect(main.quit() == 0)
        #expect(executor.wait() == 0)
        #expect(far.count(of: "BYE") == (status == 481 ? 0 : 1))
    }

    @Test("C25: a far end that hangs up in between gets 200 of the former process", arguments: ["udp", "tcp", "tls"])
    func hangsUpInBetween(over transport: String) throws {
        let (phone, far, executor) = try answered("between", over: transport)
        defer { far.close() }
        far.hangUpAtInvite()
        let main = try phone.main()
        try main.says("ended: \(far.id) remoteHungUp")
        #expect(until { far.log.contains { $0.line == "SIP/2.0 200 OK" && $0["CSeq"]?.hasSuffix("BYE") == true } })
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
    }

    @Test("C25: a far end that hangs up at any time of the hand-over ends the call", arguments: [0, 15, 30, 45, 60])
    func hangsUp(after milliseconds: UInt32) throws {
        let (phone, far, executor) = try answered("anytime")
        defer { far.close() }
        let main = try phone.main()
        usleep(milliseconds * 1_000)
        far.bye()
        #expect(try until { try phone.calls().contains("\(far.id) ended: remoteHungUp") }, "\(main.output)")
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
    }

    @Test("C25: a Main that takes over while an INVITE of the dialog is open waits for its answer")
    func takesOverInTransaction() throws {
        let (phone, far, executor) = try answered("open")
        defer { far.close() }
        far.answer(invitesWith: 0)  // the proxy repeats the INVITE after 500 ms
        let main = try phone.main()
        try main.says("goes on: \(far.id)")
        let next = try phone.takeOver()
        try next.says("goes on: \(far.id)")
        try untilMoved(far, invites: 2)
        #expect(executor.wait() == 0)
        _ = main.wait()
        #expect(next.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(far.isOneStream)
    }

    @Test("C25: an INVITE of the far end that crosses the new process's is refused for now, and the call goes on")
    func crosses() throws {
        let (phone, far, executor) = try answered("cross")
        defer { far.close() }
        far.inviteAtInvite()
        let main = try phone.main()
        try main.says("goes on: \(far.id)")
        try untilMoved(far, invites: 1)
        #expect(far.log.contains { $0.line.hasPrefix("SIP/2.0 500") && $0["Retry-After"] == "1" })
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(far.isOneStream)
    }

    @Test("C25: messages that are accepted while a call moves are stored once", arguments: ["udp", "tcp"])
    func messages(over transport: String) throws {
        let (phone, far, executor) = try answered("texts", over: transport)
        defer { far.close() }
        let main = try phone.main()
        let texts = (0..<60).map { "text-\($0)-\(phone.user)" }
        for text in texts {
            far.message(text)
            usleep(4_000)
        }
        try main.says("goes on: \(far.id)")
        func stored(_ text: String) -> Int {
            [executor, main].map { $0.output.count(of: "received: \(text)@far\n") }.reduce(0, +)
        }
        #expect(until(15) { far.messageAnswers.count == texts.count })
        // The registrar refuses one that its database does not take at this moment.
        let accepted = texts.filter { far.messageAnswers["\($0)@far"]?.hasPrefix("SIP/2.0 2") == true }
        #expect(accepted.count >= 50)
        _ = until(15) { accepted.allSatisfy { stored($0) > 0 } }
        #expect(accepted.filter { stored($0) != 1 } == [])
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
    }

    @Test("C25: the call goes back to the Executor while Main's core cannot start")
    func goesBack() throws {
        let (phone, far, executor) = try answered("back")
        defer { far.close() }
        let file = URL(filePath: phone.directory + "/account")
        let account = try String(contentsOf: file, encoding: .utf8)
        // An address to which no route leads.
        try Data((account + "registrar fe80::1\n").utf8).write(to: file)
        let main = try phone.main()
        try executor.says("goes on: \(far.id)")
        try untilMoved(far, invites: 1)
        #expect(main.wait() != 0)
        far.bye()
        try executor.says("ended: \(far.id) remoteHungUp")
        #expect(executor.wait() == 0)
        #expect(far.isOneStream)
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("C25: a former core whose baton is refused hangs up, and removes its contact", .timeLimit(.minutes(1)))
    func isRefusedByMain() async throws {
        let (phone, far, executor) = try answered("nobaton")
        defer { far.close() }
        let group = try await FileGroup.open(
            directory: phone.directory + "/group", as: SessionDescription(role: .main))
        var options = CoordinationOptions()
        options.takesBatons = [SIPTelephone.batonKind]
        let user = phone.user
        try await group.withMain(options: options, core: { RefusingCore() }) { _ in
            #expect(until { far.count(of: "BYE") == 1 })
            #expect(until { (try? Registrar.contacts(of: user).isEmpty) == true })
        }
        #expect(executor.wait() == 0)
        #expect(try phone.calls().contains("\(far.id) ended: lost"))
    }

    @Test("C18: a Main that insists and takes no call interrupts one: the far end gets BYE", .timeLimit(.minutes(1)))
    func isInterrupted() async throws {
        let (phone, far, executor) = try answered("insist")
        defer { far.close() }
        let group = try await FileGroup.open(
            directory: phone.directory + "/group", as: SessionDescription(role: .main))
        let main = try MainParticipant(of: group) { RefusingCore() }
        let (waits, wait) = AsyncStream<OwnershipWaitReason>.makeStream()
        let patient = Task { try await main.start { reason in _ = wait.yield(reason) } }
        for await reason in waits {
            if case .activity = reason { break }
        }
        patient.cancel()
        _ = await patient.result
        #expect(far.count(of: "BYE") == 0)
        try await main.start(insisting: true)
        #expect(until { far.count(of: "BYE") == 1 })
        await main.stop()
        #expect(executor.wait() == 0)
        #expect(try phone.calls().contains("\(far.id) ended: "))
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("C25: a call that the far end holds moves, stays held, and is resumed")
    func heldCall() throws {
        let (phone, far, executor) = try answered("held")
        defer { far.close() }
        far.inviteAgain("a=sendonly")
        #expect(try until { try phone.calls().contains("\(far.id) remotelyHeld") })
        let main = try phone.main()
        try main.says("goes on: \(far.id)")
        #expect(until { far.count(of: "ACK") == 1 })
        #expect(far.log.last { $0.line.hasPrefix("INVITE ") }?.direction == "recvonly")
        #expect(try phone.calls().contains("\(far.id) remotelyHeld"))
        let silent = far.packets.count
        usleep(200_000)
        #expect(far.packets.count == silent)
        far.inviteAgain("")
        #expect(until { far.packets.count > silent + 10 })
        #expect(executor.wait() == 0)
        #expect(try phone.calls().contains("\(far.id) answered"))
        #expect(main.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(far.isOneStream)
    }

    @Test("C25: a call that rings does not move: Main waits, and continues it once it is answered")
    func ringingCall() throws {
        let phone = try Phone("late")
        let far = try FarTelephone(to: phone.user, callID: "\(phone.user)@far")
        defer { far.close() }
        let executor = try phone.push(far.id)
        try executor.says("registered: 1")
        far.invite()
        try executor.says("rings: \(far.id)")
        let main = try phone.main()
        usleep(500_000)
        #expect(!main.output.contains("registered"))
        #expect(try phone.command("answer", far.id) == 0)
        try main.says("goes on: \(far.id)")
        try untilMoved(far, invites: 1)
        #expect(executor.wait() == 0)
        #expect(main.quit() == 0)
        #expect(until { far.count(of: "BYE") == 1 })
        #expect(far.isOneStream)
    }
}

/// A core that takes no baton although its options say so.
private final class RefusingCore: Core {
    func start(in context: CoreContext) async throws { try await context.baton?.refuse(because: "for the test") }
    func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3_600)) }
    func stop() async {}
}
