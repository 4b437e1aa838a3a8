import Foundation
import Glibc
import Testing

/// RFC 4475: each message goes to the Contact of a telephone that runs. The next call and the next MESSAGE work.
extension SoftphoneTests {
    @Test(
        "RFC 4475 over UDP: each message has its outcome, and a call and a MESSAGE work after it",
        .timeLimit(.minutes(5)))
    func tortureOverUDP() throws {
        let phone = try Phone("torture", transport: "udp")
        let main = try phone.main()
        try main.says("registered: 1")
        let sender = try TortureSender(to: try phone.contactPort())
        for message in TortureMessage.all {
            let outcome = try sender.outcome(of: message, at: main)
            #expect(outcome == message.overUDP, "\(message)")
            try works(phone, main, after: message.name)
        }
        #expect(main.quit() == 0)
        #expect(try Registrar.contacts(of: phone.user).isEmpty)
    }

    @Test("RFC 4475 over TCP: each message whose Via names TCP has its outcome, and a call and a MESSAGE work after it")
    func tortureOverTCP() throws {
        let phone = try Phone("torture")
        let main = try phone.main()
        try main.says("registered: 1")
        let port = try phone.contactPort()
        let messages = TortureMessage.all.filter { $0.overTCP != nil }
        #expect(messages.count == 10)
        for message in messages {
            let outcome = try TortureConnection.outcome(of: message, at: main, to: port)
            #expect(outcome == message.overTCP, "\(message)")
            try works(phone, main, after: message.name)
        }
        #expect(main.quit() == 0)
    }

    @Test("RFC 4475: an outcome that the RFC does not have has a reason, and the documented table is this one")
    func tortureTable() throws {
        #expect(TortureMessage.all.count == 49)
        for message in TortureMessage.all {
            let isPermitted = message.permitted.contains(message.overUDP)
            #expect(isPermitted == (message.reason == nil), "\(message)")
        }
        let repository = (1...5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(
            contentsOf: repository.appending(path: "Docs/Internals/SIPTorture.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| 3.") }.map(String.init)
        #expect(rows == TortureMessage.all.map(\.row), "\(TortureMessage.all.map(\.row).joined(separator: "\n"))")
    }

    /// A call with RTP in both directions, and a MESSAGE.
    private func works(_ phone: Phone, _ main: Running, after name: String) throws {
        let far = try FarTelephone(to: phone.user, callID: "after-\(name)@far")
        defer { far.close() }
        far.invite()
        try main.says("rings: \(far.id)")
        main.type("answer \(far.id)")
        #expect(until { far.isAnswered && far.sent >= 3 }, "after \(name)")
        // The telephone reads while it sends the next ones.
        let count = far.packets.count
        #expect(until { far.packets.count >= count + 3 }, "after \(name)")
        far.bye()
        try main.says("ended: \(far.id) remoteHungUp")
        let end = try #require(main.output.split(separator: "\n").first { $0.hasPrefix("ended: \(far.id) ") })
        let counts = end.split(separator: " ").compactMap { Int($0) }
        #expect(counts.count == 2 && counts.allSatisfy { $0 > 0 }, "\(end)")
        far.message("text-\(name)")
        #expect(
            until { far.messageAnswers["text-\(name)@far"]?.hasPrefix("SIP/2.0 200") == true }, "after \(name)")
        try main.says("sip:bob@sc.test: text-\(name)\n")
    }
}

extension TortureMessage {
    /// The message with a transport in place of TLS in its Via.
    func bytes(over transport: String) -> [UInt8] {
        Array(
            bytes.split(separator: Array("SIP/2.0/TLS fold".utf8), omittingEmptySubsequences: false)
                .joined(separator: Array("SIP/2.0/\(transport) fold".utf8)))
    }

    /// The row of the documented table.
    var row: String {
        let tcp = overTCP.map { "\($0)" } ?? ""
        return "| \(section) | \(name) | \(permitted.joined(separator: ", ")) | \(overUDP) | \(tcp) | \(reason ?? "") |"
    }
}

extension Phone {
    /// The port of its Contact.
    fileprivate func contactPort() throws -> UInt16 {
        let contact = try #require(try Registrar.contacts(of: user).first)
        let rest = try #require(contact.components(separatedBy: "@127.0.0.1:").last)
        return try #require(UInt16(rest.prefix { $0.isNumber }))
    }
}

/// The marker: a request that is answered. Its answer comes after that to the message in front of it.
private enum Marker {
    static func request(_ id: String, _ transport: String, _ host: String) -> [UInt8] {
        let lines = [
            "OPTIONS sip:marker@127.0.0.1 SIP/2.0", "Via: SIP/2.0/\(transport) \(host);branch=z9hG4bK\(id)",
            "From: <sip:marker@sc.test>;tag=m", "To: <sip:marker@sc.test>", "Call-ID: \(id)", "CSeq: 1 OPTIONS",
            "Max-Forwards: 70", "Content-Length: 0", "", "",
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}

/// Sends messages over UDP from an address of its own. The answers come to port 5060 of the sender's address, or to
/// the port in the Via.
private struct TortureSender {
    private static let host = "127.44.75.1"
    private let target: UInt16
    private let sockets: [UDPSocket]

    init(to port: UInt16) throws {
        target = port
        sockets = [try UDPSocket(at: Self.host, port: 5_060), try UDPSocket(at: Self.host, port: 5_050)]
    }

    func outcome(of message: TortureMessage, at main: Running) throws -> TortureMessage.Outcome {
        let id = "marker-\(message.name)"
        sockets[0].send(message.bytes, to: target)
        sockets[0].send(Marker.request(id, "UDP", Self.host), to: target)
        var answers: [SIPText] = []
        var isMarked = false
        #expect(
            until {
                let new = received(after: id)
                answers += new.answers
                isMarked = isMarked || new.isMarked
                return isMarked
            }, "\(message): the telephone answers no more")
        guard let first = answers.first, first.line.hasPrefix("SIP/2.0 180 ") else { return status(answers) }
        main.type("decline \(first["Call-ID"] ?? "")")
        var others: [SIPText] = []
        #expect(
            until {
                others += received(after: id).answers
                return !others.isEmpty
            }, "\(message)")
        #expect(answers.count == 1)
        return status(others) == "603" ? "rings" : "rings, \(status(others))"
    }

    private func status(_ answers: [SIPText]) -> String {
        answers.isEmpty ? "none" : answers.map { $0.line.split(separator: " ")[1] }.joined(separator: ", ")
    }

    /// The answers to the message in front of the marker. Those to earlier messages, which are repeated until an ACK
    /// comes, are passed over.
    private func received(after id: String) -> (answers: [SIPText], isMarked: Bool) {
        var answers: [SIPText] = []
        var isMarked = false
        for socket in sockets {
            while let (bytes, _) = socket.receive() {
                let answer = SIPText(String(decoding: bytes, as: UTF8.self))
                if answer["Call-ID"] == id {
                    isMarked = true
                } else if earlier.note(bytes) {
                    answers.append(answer)
                }
            }
        }
        return (answers, isMarked)
    }

    private let earlier = Earlier()

    /// The datagrams that have come.
    private final class Earlier {
        private var seen: Set<[UInt8]> = []
        func note(_ bytes: [UInt8]) -> Bool { seen.insert(bytes).inserted }
    }
}

/// A TCP connection to a telephone.
private final class TortureConnection {
    private let descriptor: Int32
    private var text = ""
    private var isClosed = false

    init(to port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = UDPSocket.address(port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "no connection to port \(port): \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    /// Sends a message and a marker behind it on one connection.
    static func outcome(of message: TortureMessage, at main: Running, to port: UInt16) throws -> TortureMessage.Outcome
    {
        let connection = try TortureConnection(to: port)
        let id = "marker-\(message.name)"
        connection.send(message.bytes(over: "TCP") + Marker.request(id, "TCP", "127.44.75.1"))
        let isRead = until(3) { connection.statuses(of: "marker-").count == 1 || connection.isClosed }
        // The telephone answers on another connection at any time.
        let other = try TortureConnection(to: port)
        other.send(Marker.request(id + "-2", "TCP", "127.44.75.1"))
        #expect(until { other.statuses(of: "marker-") == ["200"] }, "\(message): the telephone answers no more")
        let first = connection.statuses(of: "")
        guard first.first == "180", let id = connection.answers.first?["Call-ID"] else {
            let status = first.isEmpty ? "none" : first.joined(separator: ", ")
            return status + (connection.isClosed ? ", closed" : isRead ? "" : ", stalled")
        }
        main.type("decline \(id)")
        #expect(until { connection.statuses(of: "").count == 2 }, "\(message)")
        let statuses = connection.statuses(of: "")
        return statuses == ["180", "603"] ? "rings" : statuses.joined(separator: ", ")
    }

    private func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    private var answers: [SIPText] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count == 0 { isClosed = true }
            if count <= 0 { break }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        return text.components(separatedBy: "\r\n\r\n").filter { !$0.isEmpty }.map(SIPText.init)
    }

    /// The statuses of the answers to the marker, or of those to the message.
    private func statuses(of marker: String) -> [String] {
        answers.filter { ($0["Call-ID"]?.hasPrefix("marker-") == true) == !marker.isEmpty }
            .map { String($0.line.split(separator: " ")[1]) }
    }
}
