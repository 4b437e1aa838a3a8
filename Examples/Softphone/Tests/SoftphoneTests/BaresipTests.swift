import Foundation
import Testing

/// baresip as the far end: SIP and SDP of other authors.
extension SoftphoneTests {
    @Test(
        "A call from baresip is answered, has RTP both ways, and is hung up by each side",
        arguments: ["udp", "tcp"], ["baresip", "softphone"])
    func callFromBaresip(over transport: String, endedBy side: String) throws {
        let phone = try Phone("bare", transport: transport)
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try Baresip("carol", knowing: phone)
        try far.command("dial", "sip:\(phone.user)@sc.test")
        try far.waits(for: "CALL_RINGING")
        try main.says("rings: ")
        let line = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("rings: ") })
        let id = String(line.split(separator: " ")[1])
        #expect(line.hasSuffix("from sip:\(far.user)@sc.test"))
        main.type("answer \(id)")
        try far.waits(for: "CALL_ESTABLISHED")
        try far.waits(for: "CALL_RTPESTAB")  // the first packet has come
        #expect(until { far.hasRTPBothWays }, "\(far.output)")
        if side == "baresip" { try far.command("hangup") } else { main.type("hangup \(id)") }
        try main.says("ended: \(id) \(side == "baresip" ? "remoteHungUp" : "hungUp"), ")
        if side == "softphone" { try far.waits(for: "CALL_CLOSED") }
        let end = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("ended: ") })
        let numbers = end.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers.allSatisfy { $0 > 50 }, "a second has 50 packets: \(end)")
        #expect(try phone.calls().contains("\(id) ended: \(side == "baresip" ? "remoteHungUp" : "hungUp")"))
        #expect(main.quit() == 0)
    }

    @Test("A MESSAGE goes to baresip, and one from baresip is shown")
    func messagesOfBaresip() throws {
        let phone = try Phone("bare", transport: "udp")
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try Baresip("carol", knowing: phone)
        try far.command("contact_next")
        try far.command("message", "Tea at five?")
        try main.says("sip:\(far.user)@sc.test: Tea at five?\n")
        main.type("send sip:\(far.user)@sc.test With milk")
        try main.says("sent\n")
        // baresip shows no text without a terminal. The 2xx is its own, and not the one for a message that the registrar stores.
        #expect(try Registrar.stored(for: far.user) == 0)
        #expect(main.quit() == 0)
    }
}
