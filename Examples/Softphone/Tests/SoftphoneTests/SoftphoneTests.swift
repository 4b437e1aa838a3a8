import Foundation
import Testing

/// The program against a real registrar: `make sip` runs them. Without one they are skipped.
@Suite(.serialized, .enabled(if: Registrar.isThere))
struct SoftphoneTests {
    @Test(
        "Main registers one contact, with the parameters that wake it, and removes it at its end",
        arguments: ["udp", "tcp"])
    func registers(over transport: String) throws {
        let phone = try Phone("reg", transport: transport)
        let main = try phone.main()
        try main.says("registered: 1 of 1 contacts")
        let contacts = try Registrar.contacts(of: phone.user)
        #expect(contacts.count == 1)
        #expect(contacts.first?.contains("transport=\(transport);pn-provider=softphone;pn-prid=\(phone.user)") == true)
        #expect(main.quit() == 0)
        #expect(main.output.contains("unregistered: 200"))
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("A registration is refreshed before its end", arguments: ["udp", "tcp"])
    func refreshes(over transport: String) throws {
        let phone = try Phone("fresh", transport: transport, lines: ["expires 10"])
        let main = try phone.main()
        #expect(until(25) { main.output.count(of: "registered: 1 of 1 contacts") >= 3 })
        #expect(try Registrar.contacts(of: phone.user).count == 1)
        #expect(main.quit() == 0)
    }

    @Test("A TCP connection that breaks is made anew, and so is the registration")
    func connectionBreaks() throws {
        let phone = try Phone("cut")
        let main = try phone.main()
        try main.says("registered: 1")
        try Command.run("ss", "-K", "dst", "127.0.0.1", "dport", "=", Registrar.port)
        #expect(until(10) { main.output.count(of: "registered: 1 of 1 contacts") == 2 }, "\(main.output)")
        #expect(try FarEnd("message", to: phone.user, callID: "after-cut").succeeds())
        try main.says("hello after-cut-1@bob")
        #expect(main.quit() == 0)
    }

    @Test("Over TLS the registrar is verified: it registers with the right authority and name alone")
    func verifiesTLS() throws {
        let right = "certificates \(Registrar.directory)/tls/client"
        let phone = try Phone("tls", transport: "tls", lines: [right])
        let main = try phone.main()
        try main.says("registered: 1 of 1 contacts")
        let stranger = try Phone("tls", transport: "tls", lines: ["certificates \(Registrar.directory)/tls/stranger"])
        let misnamed = try Phone("tls", transport: "tls", lines: [right, "registrar localhost"])
        let refused = [try stranger.main(), try misnamed.main()]
        for other in refused { try other.says("not registered", within: 45) }
        for phone in [stranger, misnamed] { #expect(try Registrar.contacts(of: phone.user).isEmpty) }
        for other in refused { #expect(other.quit() == 0) }
        #expect(main.quit() == 0)
    }

    @Test("A wrong password is an answer, and no crash")
    func wrongPassword() throws {
        let phone = try Phone("wrong", password: "Quince-4711-Kettle")
        let main = try phone.main()
        try main.says("not registered: 401")
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
        #expect(main.quit() == 0)
    }

    @Test("The password is in nothing that is written: outputs, the group with its timeline, the command line")
    func keepsThePassword() throws {
        let phone = try Phone("secret")
        let main = try phone.main()
        try main.says("registered: 1")
        let secret = try Phone("secret", password: "Quince-4711-Kettle")
        let refused = try secret.main()
        try refused.says("not registered: 401")
        for folder in [phone.directory, secret.directory] {
            let (status, found) = try Command.run("grep", "-rlaF", "Quince-4711", folder)
            #expect(status == 0 && found == folder + "/password\n")
        }
        let (_, processes) = try Command.run(
            "sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'Quince-47[1]1'")
        #expect(processes == "0\n")
        #expect(main.quit() == 0)
        #expect(refused.quit() == 0)
    }

    @Test(
        "A message that was stored offline is shown once by the Executor that its push woke", arguments: ["udp", "tcp"])
    func offlineMessage(over transport: String) throws {
        let phone = try Phone("off", transport: transport)
        try Registrar.wake(phone)
        let sender = try FarEnd("message", to: phone.user, callID: "offline")
        #expect(sender.succeeds())
        #expect(until { phone.pushed(sender.callID).contains("unregistered: 200") }, "\(phone.pushed(sender.callID))")
        #expect(phone.pushed(sender.callID).count(of: "sip:bob@sc.test: hello \(sender.callID)") == 1)
        let again = try phone.push(sender.callID)
        #expect(again.wait() == 0)
        #expect(again.output.contains("nothing to show") && !again.output.contains("hello"))
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("A message that is sent while an Executor waits for it arrives once")
    func messageWhileWaiting() throws {
        let phone = try Phone("wait")
        let executor = try phone.push("waited-1@bob")
        try executor.says("registered: 1")
        let sender = try FarEnd("message", to: phone.user, callID: "waited")
        #expect(sender.succeeds())
        #expect(executor.wait() == 0)
        #expect(executor.output.count(of: "hello waited-1@bob") == 1)
    }

    @Test("Main shows a message, and sends one")
    func mainMessages() throws {
        let phone = try Phone("talk")
        let main = try phone.main()
        try main.says("registered: 1")
        #expect(try FarEnd("message", to: phone.user, callID: "live").succeeds())
        try main.says("sip:bob@sc.test: hello live-1@bob")
        let friend = try Phone("friend")
        try Registrar.wake(friend)
        main.type("send sip:\(friend.user)@sc.test Tea?")
        try main.says("sent")
        #expect(main.quit() == 0)
        let list = "\(friend.directory)"
        #expect(until { (try? Command.run("grep", "-rh", "sip:\(phone.user)@sc.test: Tea?", list).status) == 0 })
    }

    @Test("An INVITE wakes an Executor, rings, is answered by another process, has RTP both ways, and ends with BYE")
    func answeredCall() throws {
        let phone = try Phone("call")
        try Registrar.wake(phone)
        let caller = try FarEnd("call-ended-by-caller", to: phone.user, callID: "answered")
        let id = caller.callID
        #expect(until { phone.pushed(id).contains("rings: \(id)") }, "\(phone.pushed(id))")
        #expect(try phone.calls().contains("\(id) ringing"))
        #expect(try phone.command("answer", id) == 0)
        #expect(caller.succeeds())
        #expect(until { phone.pushed(id).contains("unregistered: 200") }, "\(phone.pushed(id))")
        let end = try #require(phone.pushed(id).split(separator: "\n").first { $0.hasPrefix("ended: ") })
        #expect(end.contains("remoteHungUp"))
        let numbers = end.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers.allSatisfy { $0 > 20 }, "one second has 50 packets: \(end)")
        #expect(try phone.calls().contains("\(id) ended: remoteHungUp"))
    }

    @Test("A call that another process hangs up ends with BYE")
    func hungUpCall() throws {
        let phone = try Phone("hang", transport: "udp")
        let main = try phone.main()
        try main.says("registered: 1")
        let caller = try FarEnd("call-ended-by-callee", to: phone.user, callID: "hung")
        try main.says("rings: \(caller.callID)")
        #expect(try phone.command("answer", caller.callID) == 0)
        #expect(try phone.command("hangup", caller.callID) == 0)
        #expect(caller.succeeds())
        #expect(try phone.calls().contains("\(caller.callID) ended: hungUp"))
        #expect(try phone.command("hangup", caller.callID) != 0)
        #expect(main.quit() == 0)
    }

    @Test("A call that its caller cancels is missed; one that is declined gets 603")
    func endsBeforeAnswer() throws {
        let phone = try Phone("miss")
        let main = try phone.main()
        try main.says("registered: 1")
        let caller = try FarEnd("call-cancelled", to: phone.user, callID: "cancelled")
        #expect(caller.succeeds())
        try main.says("ended: \(caller.callID) missed")
        #expect(try phone.calls().contains("\(caller.callID) ended: missed"))
        let second = try FarEnd("call-declined", to: phone.user, callID: "declined")
        try main.says("rings: \(second.callID)")
        #expect(try phone.command("decline", second.callID) == 0)
        #expect(second.succeeds())
        #expect(try phone.calls().contains("\(second.callID) ended: declined"))
        #expect(main.quit() == 0)
    }

    @Test("A caller whose INVITE and ACK have no media gets BYE, and the call has failed")
    func callWithoutMedia() throws {
        let phone = try Phone("mute", transport: "udp")
        let main = try phone.main()
        try main.says("registered: 1")
        let caller = try FarEnd("call-without-media", to: phone.user, callID: "mute")
        try main.says("rings: \(caller.callID)")
        #expect(try phone.command("answer", caller.callID) == 0)
        #expect(caller.succeeds())
        #expect(try phone.calls().contains("\(caller.callID) ended: failed"))
        #expect(main.quit() == 0)
    }

    @Test("A telephone that ends in a call hangs up first")
    func endsInACall() throws {
        let phone = try Phone("quit")
        let main = try phone.main()
        try main.says("registered: 1")
        let caller = try FarEnd("call-ended-by-callee", to: phone.user, callID: "left")
        try main.says("rings: \(caller.callID)")
        #expect(try phone.command("answer", caller.callID) == 0)
        #expect(main.quit() == 0)
        #expect(caller.succeeds())
        #expect(try phone.calls().contains("\(caller.callID) ended: hungUp"))
    }

    @Test(
        "After kill -9 of the owner the next one is the only contact, at any time", arguments: ["kill", "plain"],
        ["udp", "tcp"])
    func killedOwner(of user: String, over transport: String) throws {
        let phone = try Phone(user, transport: transport)
        var most = 0
        for turn in 1...3 {
            let main = try phone.main()
            #expect(
                try until {
                    most = max(most, try Registrar.contacts(of: phone.user).count)
                    return main.output.contains("registered: 1 of 1 contacts")
                }, "turn \(turn): \(main.output)")
            // The registrar's answer has all that it holds: what is removed a moment later stands there, too.
            #expect(main.output.count(of: "registered: ") == 1, "turn \(turn): \(main.output)")
            main.kill9()
        }
        let last = try phone.main()
        try last.says("registered: 1 of 1 contacts")
        #expect(try FarEnd("message", to: phone.user, callID: "after-kill").succeeds())
        try last.says("hello after-kill-1@bob")
        #expect(last.output.count(of: "hello after-kill-1@bob") == 1)
        #expect(most <= 1)
        #expect(last.quit() == 0)
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("A call to a telephone that was killed rings in the Executor that its push wakes", arguments: ["udp", "tcp"])
    func callAfterKill(over transport: String) throws {
        let phone = try Phone("dead", transport: transport)
        try Registrar.wake(phone)
        let main = try phone.main()
        try main.says("registered: 1 of 1 contacts")
        main.kill9()
        let caller = try FarEnd("call-ended-by-caller", to: phone.user, callID: "dead")
        #expect(until { phone.pushed(caller.callID).contains("rings: \(caller.callID)") })
        #expect(try phone.command("answer", caller.callID) == 0)
        #expect(caller.succeeds())
        #expect(until { phone.pushed(caller.callID).contains("unregistered: 200") })
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("An Executor that owns hands over to Main: one contact, and no message lost")
    func handOver() throws {
        let phone = try Phone("hand")
        let executor = try phone.push("never-1@bob")
        try executor.says("registered: 1")
        let main = try phone.main()
        try main.says("registered: 1 of 1 contacts")
        #expect(try Registrar.contacts(of: phone.user).count == 1)
        #expect(try FarEnd("message", to: phone.user, callID: "handed").succeeds())
        try main.says("hello handed-1@bob")
        #expect(main.quit() == 0)
    }
}
