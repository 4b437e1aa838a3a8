import Foundation
import Testing

/// Faults of the registrar and of the network.
extension SoftphoneTests {
    @Test("A request with a wrong Via, after which the library ends the connection, is followed by a registration")
    func wrongVia() throws {
        let phone = try Phone("via", lines: ["expires 600"])
        let main = try phone.main()
        try main.says("registered: 1")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        far.message("wrong-\(phone.user)", branch: "wrong@via")
        #expect(until { far.messageAnswers.count == 1 })
        #expect(far.messageAnswers.values.first?.hasPrefix("SIP/2.0 400") == true, "\(far.messageAnswers)")
        #expect(until { main.output.count(of: "registered: 1 of 1 contacts") == 2 }, "\(main.output)")
        far.message("right-\(phone.user)")
        try main.says(": right-\(phone.user)\n")
        #expect(main.quit() == 0)
    }

    @Test(
        "The registrar is killed and starts anew: one contact, each message is shown once, and a call works",
        arguments: ["udp", "tcp"])
    func registrarRestarts(over transport: String) throws {
        let phone = try Phone("again", transport: transport, lines: ["expires 10"])
        let main = try phone.main()
        try main.says("registered: 1 of 1 contacts")
        try Registrar.kill9()
        // Over TCP an attempt to register meanwhile fails; over UDP it has no answer yet.
        if transport == "tcp" { try main.says("not registered: ") }
        let before = main.output.count(of: "registered: 1 of 1 contacts")
        try Registrar.start()
        let far = try FarTelephone(to: phone.user, callID: "call-\(phone.user)@far")
        defer { far.close() }
        // The registrar has lost its contacts, and stores the message.
        far.message("restart-\(phone.user)")
        #expect(until { far.messageAnswers["restart-\(phone.user)@far"]?.hasPrefix("SIP/2.0 2") == true })
        #expect(until(60) { main.output.count(of: "registered: 1 of 1 contacts") > before }, "\(main.output)")
        try main.says(": restart-\(phone.user)\n", within: 60)
        #expect(try Registrar.contacts(of: phone.user).count == 1)
        far.invite()
        try main.says("rings: \(far.id)")
        main.type("answer \(far.id)")
        #expect(until { far.isAnswered })
        far.bye()
        try main.says("ended: \(far.id) remoteHungUp")
        #expect(main.quit() == 0)
        #expect(main.output.count(of: ": restart-\(phone.user)\n") == 1)
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test(
        "A TCP connection that the registrar no longer has is made anew: one contact, each message is shown once",
        .enabled(if: Registrar.network != nil, "Only root can make a network namespace."))
    func halfOpenConnection() throws {
        let network = try #require(Registrar.network)
        let phone = try Phone("half", lines: ["registrar \(network.address)", "expires 10"])
        let main = try phone.main(in: network.namespace)
        try main.says("registered: 1 of 1 contacts")
        let far = try FarTelephone(to: phone.user, callID: "none@far")
        defer { far.close() }
        let witness = try Witness(of: phone)
        defer { witness.end() }
        #expect(until { !witness.seen.isEmpty })
        // No packet of the end of the connection reaches the telephone.
        try Network.losing(percent: 100) {
            try Command.run("ss", "-K", "dst", network.telephone, "sport", "=", Registrar.port)
            #expect(try until { try Registrar.contacts(of: phone.user).isEmpty }, "it ends with its connection")
            let (_, sockets) = try Command.run(
                "ip", "netns", "exec", network.namespace, "ss", "-Htn", "state", "established")
            #expect(sockets.contains("\(network.address):\(Registrar.port)"), "the telephone has it still: \(sockets)")
            far.message("half-\(phone.user)")
            #expect(until { far.messageAnswers["half-\(phone.user)@far"]?.hasPrefix("SIP/2.0 202") == true })
        }
        try main.says(": half-\(phone.user)\n", within: 60)
        far.message("whole-\(phone.user)")
        try main.says(": whole-\(phone.user)\n")
        #expect(main.quit() == 0)
        for name in ["half", "whole"] { #expect(main.output.count(of: ": \(name)-\(phone.user)\n") == 1) }
        witness.endAndCheck()
        #expect(Set(witness.seen.map(\.connection)).count == 2, "\(witness.seen)")
    }

    @Test(
        "A fifth of all packets is lost in both directions: each message is shown once, a call is answered and ends",
        .enabled(if: Registrar.network != nil, "Only root can make a network namespace."), arguments: ["udp", "tcp"])
    func lossyNetwork(over transport: String) throws {
        let network = try #require(Registrar.network)
        let phone = try Phone("lossy", transport: transport, lines: ["registrar \(network.address)", "expires 10"])
        let far = try FarTelephone(to: phone.user, callID: "call-\(phone.user)@far")
        defer { far.close() }
        let texts = (1...10).map { "lossy-\($0)-\(phone.user)" }
        try Network.losing(percent: 20) {
            let main = try phone.main(in: network.namespace)
            try main.says("registered: 1 of 1 contacts", within: 120)
            for text in texts { far.message(text) }
            #expect(until(120) { texts.allSatisfy { main.output.contains(": \($0)\n") } }, "\(main.output)")
            // An answer may be lost after its message was shown.
            #expect(until(60) { far.messageAnswers.count == texts.count })
            let answers = far.messageAnswers
            #expect(texts.allSatisfy { answers["\($0)@far"]?.hasPrefix("SIP/2.0 2") == true }, "\(answers)")
            far.invite()
            try main.says("rings: \(far.id)", within: 60)
            main.type("answer \(far.id)")
            #expect(until(60) { far.isAnswered })
            far.bye()
            try main.says("ended: \(far.id) remoteHungUp", within: 60)
            #expect(main.quit() == 0)
            #expect(texts.filter { main.output.count(of: ": \($0)\n") != 1 } == [])
        }
    }

    @Test("Over TLS a server with an expired certificate is refused, and gets a REGISTER with one that has not expired")
    func expiredCertificate() throws {
        for (certificate, isGood) in [("expired", false), ("server", true)] {
            let port = try UDPSocket().port
            let log = FileManager.default.temporaryDirectory.appending(path: "s_server-\(UUID())").path
            FileManager.default.createFile(atPath: log, contents: nil)
            defer { try? FileManager.default.removeItem(atPath: log) }
            func received() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            let server = Process()
            let input = Pipe()  // at the end of its input the server would end
            server.executableURL = URL(filePath: "/usr/bin/env")
            server.arguments = [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-key", "\(Registrar.directory)/tls/server.key",
                "-cert", "\(Registrar.directory)/tls/\(certificate).crt",
            ]
            (server.standardInput, server.standardOutput) = (input, FileHandle(forWritingAtPath: log))
            server.standardError = FileHandle.nullDevice
            try server.run()
            defer {
                kill(server.processIdentifier, SIGKILL)
                server.waitUntilExit()
            }
            try #require(until { received().contains("ACCEPT") }, "\(received())")
            let phone = try Phone(
                "expired", transport: "tls",
                lines: ["certificates \(Registrar.directory)/tls/client", "port \(port)"])
            let main = try phone.main()
            if isGood {
                #expect(until(45) { received().contains("REGISTER sip:sc.test") }, "\(main.output)")
            } else {
                try main.says("not registered", within: 45)
                #expect(!received().contains("REGISTER"))
            }
            main.kill9()
        }
    }
}

/// A network that loses packets. They are lost where they arrive: one that is dropped where it is sent is an error there.
enum Network {
    private static let table = "softphone"

    /// Loses a part of the packets of the telephone's link, in both directions, until the closure returns.
    static func losing(percent: Int, _ body: () throws -> Void) throws {
        let network = try #require(Registrar.network)
        let part = percent == 100 ? "" : "numgen random mod 100 < \(percent)"
        for (place, link) in [([], network.link), (inside(network.namespace), "telephone")] {
            let (status, text) = try Command.run(
                place + [
                    "nft",
                    """
                    add table ip \(table)
                    add chain ip \(table) loss { type filter hook input priority 0; }
                    add rule ip \(table) loss iifname \(link) \(part) counter drop
                    """,
                ])
            try #require(status == 0, "\(text)")
        }
        defer {
            for place in [[], inside(network.namespace)] {
                _ = try? Command.run(place + ["nft", "delete table ip \(table)"])
            }
        }
        try body()
        #expect(try lost([]) + lost(inside(network.namespace)) > 0)
    }

    /// How many packets were lost at a place.
    private static func lost(_ place: [String]) throws -> Int {
        let words = try Command.run(place + ["nft", "list table ip \(table)"]).output.split(separator: " ")
        return zip(words, words.dropFirst()).filter { $0.0 == "packets" }.compactMap { Int($0.1) }.reduce(0, +)
    }

    private static func inside(_ namespace: String) -> [String] { ["ip", "netns", "exec", namespace] }
}
