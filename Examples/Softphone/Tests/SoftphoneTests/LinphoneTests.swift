import Foundation
import Testing

/// linphonec as the far end: SIP and SDP of other authors.
extension SoftphoneTests {
    @Test(
        "A call from linphonec is answered, has RTP both ways, and is hung up by each side",
        arguments: ["udp", "tcp"], ["linphonec", "softphone"])
    func callFromLinphone(over transport: String, endedBy side: String) throws {
        let phone = try Phone("lin", transport: transport)
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try Linphone("dora", transport: transport)
        far.type("call sip:\(phone.user)@sc.test")
        try main.says("rings: ")
        try far.says(" ringing.")
        let line = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("rings: ") })
        let id = String(line.split(separator: " ")[1])
        #expect(line.hasSuffix("from sip:\(far.user)@sc.test"))
        main.type("answer \(id)")
        try far.says("Media streams established")
        // Two seconds of 8,000 samples of 16 bits.
        #expect(until { far.recorded > 32_000 }, "\(far.output)")
        if side == "linphonec" { far.type("terminate") } else { main.type("hangup \(id)") }
        try main.says("ended: \(id) \(side == "linphonec" ? "remoteHungUp" : "hungUp"), ")
        try far.says(" ended (No error)")
        try #require(until { far.packets != nil })
        let packets = try #require(far.packets)
        #expect(packets.sent > 50 && packets.received > 50, "a second has 50 packets: \(packets)")
        let end = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("ended: ") })
        let numbers = end.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers.allSatisfy { $0 > 50 }, "a second has 50 packets: \(end)")
        #expect(try phone.calls().contains("\(id) ended: \(side == "linphonec" ? "remoteHungUp" : "hungUp")"))
        #expect(main.quit() == 0)
    }

    @Test("A MESSAGE goes to linphonec, and one from linphonec is shown", arguments: ["udp", "tcp"])
    func messagesOfLinphone(over transport: String) throws {
        let phone = try Phone("lin", transport: transport)
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try Linphone("dora", transport: transport)
        far.type("chat sip:\(phone.user)@sc.test Tea at five?")
        try main.says("sip:\(far.user)@sc.test: Tea at five?\n")
        main.type("send sip:\(far.user)@sc.test With milk")
        try main.says("sent\n")
        // It answers with a report of the delivery, in XML that it compresses.
        try far.says("Message received from sip:\(phone.user)@sc.test: With milk")
        far.type("chat sip:\(phone.user)@sc.test And cake")
        try main.says("sip:\(far.user)@sc.test: And cake\n")
        #expect(main.output.count(of: "sip:\(far.user)@sc.test: ") == 2, "the report is not shown: \(main.output)")
        #expect(main.quit() == 0)
    }
}
