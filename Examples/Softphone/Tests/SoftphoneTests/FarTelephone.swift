import Foundation
import Glibc
import Synchronization
import Testing

/// A far end in this process: it calls a telephone over UDP, or answers its calls, sends RTP every 20 ms, and notes each RTP packet that comes.
final class FarTelephone: Sendable {
    /// An RTP packet that has come.
    struct Packet {
        let nanoseconds: UInt64
        let ssrc: UInt32
        let sequence: UInt16
        let timestamp: UInt32
        let port: UInt16
    }

    private struct State {
        var packets: [Packet] = []
        var sent = 0
        /// The requests and answers that have come, without repetitions.
        var log: [SIPText] = []
        /// The status line for each message that was sent.
        var messageAnswers: [String: String] = [:]
        /// The statuses that answer the next INVITEs inside the dialog; 0 for no answer. If none is left, 200 is sent.
        var answers: [Int] = []
        var id: String  // empty until a call comes
        var local = "<sip:bob@sc.test>;tag=far"
        var remote = ""  // the telephone's address with its tag
        var target = ""
        var routes: [String] = []
        var peerPort: UInt16 = 0
        var number = 1
        var mode = ""
        var hangsUpAtInvite = false
        var hasHungUp = false
        var lastAnswer: (lines: [String], body: String) = ([], "")
        var acknowledgements = 0
        var invitesAtInvite = false
        var lastRemoteNumber = 0
        var sendsRTP = true
        var isOver = false
    }

    let user: String
    private let signalling: UDPSocket
    private let media: UDPSocket
    private let state: Mutex<State>

    /// Calls a telephone.
    convenience init(to user: String, callID: String) throws { try self.init(user, callID) }

    /// Binds a user to this telephone at the registrar, and answers the user's first call.
    convenience init(as user: String) throws {
        try self.init(user, "")
        try Registrar.bind(user, to: signalling.port)
    }

    private init(_ user: String, _ callID: String) throws {
        self.user = user
        state = Mutex(State(id: callID))
        signalling = try UDPSocket()
        media = try UDPSocket()
        Thread.detachNewThread { [self] in run() }
    }

    /// Ends the thread.
    func close() { state.withLock { $0.isOver = true } }

    // MARK: What it does

    func invite() { send("INVITE", "sip:\(user)@sc.test", withSDP: true) }

    /// Withdraws the INVITE before it is answered.
    func cancel() { send("CANCEL", "sip:\(user)@sc.test", branch: "INVITE") }

    /// Sends an INVITE inside the dialog, with a direction such as `a=sendonly`.
    func inviteAgain(_ mode: String) {
        state.withLock {
            $0.mode = mode
            $0.number += 1
        }
        send("INVITE", state.withLock(\.target), withSDP: true)
    }

    func bye() {
        state.withLock {
            $0.number += 1
            $0.hasHungUp = true
        }
        send("BYE", state.withLock(\.target))
    }

    /// Sends a MESSAGE with a Call-ID of its own, and with more headers.
    func message(_ text: String, branch: String? = nil, _ headers: String...) {
        deliver(
            [
                "MESSAGE sip:\(user)@sc.test SIP/2.0",
                "Via: SIP/2.0/UDP 127.0.0.1:\(signalling.port);branch=z9hG4bK\(branch ?? text)",
                "From: <sip:bob@sc.test>;tag=m", "To: <sip:\(user)@sc.test>", "Call-ID: \(text)@far",
                "CSeq: 1 MESSAGE", "Max-Forwards: 70", "Content-Type: text/plain",
            ] + headers, text)
    }

    /// Sends the last answer again, as if its ACK had not come.
    func answerAgain() {
        let (lines, body) = state.withLock(\.lastAnswer)
        deliver(lines, body)
    }

    /// How many ACKs have come, with repetitions.
    var acknowledgements: Int { state.withLock(\.acknowledgements) }

    func answer(invitesWith statuses: Int...) { state.withLock { $0.answers = statuses } }
    /// Sends BYE when the next INVITE comes, before it answers that with 481: the BYE goes to the former Contact.
    func hangUpAtInvite() { state.withLock { $0.hangsUpAtInvite = true } }
    /// Sends an INVITE when the next one comes, before it answers that with 491: both cross.
    func inviteAtInvite() { state.withLock { $0.invitesAtInvite = true } }
    func sendRTP(_ sends: Bool) { state.withLock { $0.sendsRTP = sends } }

    // MARK: What has come

    var id: String { state.withLock(\.id) }
    var packets: [Packet] { state.withLock(\.packets) }
    /// How many RTP packets this telephone has sent.
    var sent: Int { state.withLock(\.sent) }
    var log: [SIPText] { state.withLock(\.log) }
    var messageAnswers: [String: String] { state.withLock(\.messageAnswers) }
    var isAnswered: Bool { log.contains { $0.line.hasPrefix("SIP/2.0 200") && $0["CSeq"] == "1 INVITE" } }
    func count(of line: String) -> Int { log.count { $0.line.hasPrefix(line) } }

    /// The longest time between two packets, in milliseconds, from a packet on.
    func longestGap(from index: Int) -> Double {
        let packets = packets.dropFirst(index)
        return zip(packets, packets.dropFirst()).map { Double($1.nanoseconds - $0.nanoseconds) / 1e6 }.max() ?? 0
    }

    /// True if all packets are of one stream, and none is missing or repeated.
    var isOneStream: Bool {
        let packets = packets
        return Set(packets.map(\.ssrc)).count == 1 && Set(packets.map(\.port)).count == 1
            && zip(packets, packets.dropFirst()).allSatisfy { $1.sequence == $0.sequence &+ 1 }
    }

    // MARK: The thread

    private func run() {
        var nextPacket = Self.now
        var sequence: UInt16 = 0
        while !state.withLock(\.isOver) {
            var entries = [signalling, media].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let now = Self.now
            poll(&entries, 2, Int32(nextPacket > now ? (nextPacket - now) / 1_000_000 + 1 : 0))
            while let (bytes, port) = media.receive() { note(bytes, from: port) }
            while let (bytes, _) = signalling.receive() { handle(SIPText(String(decoding: bytes, as: UTF8.self))) }
            guard Self.now >= nextPacket else { continue }
            nextPacket += 20_000_000
            let (port, sends) = state.withLock { ($0.peerPort, $0.sendsRTP) }
            guard port != 0, sends else { continue }
            sequence &+= 1
            let head: [UInt8] = [0x80, 0, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 0, 0, 0, 0, 7]
            media.send(head + [UInt8](repeating: 0xFF, count: 160), to: port)
            state.withLock { $0.sent += 1 }
        }
    }

    private static var now: UInt64 { monotonicNanoseconds() }

    private func note(_ bytes: [UInt8], from port: UInt16) {
        guard bytes.count >= 12 else { return }
        func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
        let packet = Packet(
            nanoseconds: Self.now, ssrc: number(8..<12), sequence: UInt16(number(2..<4)), timestamp: number(4..<8),
            port: port)
        state.withLock { $0.packets.append(packet) }
    }

    private func handle(_ message: SIPText) {
        if message["CSeq"] == "1 MESSAGE", let id = message["Call-ID"] {
            state.withLock { $0.messageAnswers[id] = message.line }
        }
        if id.isEmpty, message.line.hasPrefix("INVITE ") {
            state.withLock { state in
                state.id = message["Call-ID"] ?? ""
                state.local = (message["To"] ?? "") + ";tag=far"
                state.remote = message["From"] ?? ""
                state.routes = message.all("Record-Route")
            }
        }
        guard message["Call-ID"] == id else { return }
        if message.line.hasPrefix("ACK ") { state.withLock { $0.acknowledgements += 1 } }
        let isNew = state.withLock { state in
            guard !state.log.contains(where: { $0.identity == message.identity }) else { return false }
            state.log.append(message)
            return true
        }
        if message.line.hasPrefix("SIP/2.0 200"), message["CSeq"]?.hasSuffix("INVITE") == true {
            state.withLock { state in
                state.remote = message["To"] ?? ""
                if state.routes.isEmpty { state.routes = message.all("Record-Route").reversed() }
                state.target = message.uri
                state.peerPort = message.mediaPort ?? state.peerPort
            }
            return send("ACK", message.uri, number: message["CSeq"].flatMap { Int($0.prefix { $0.isNumber }) })
        }
        if message.line.hasPrefix("SIP/2.0 "), !message.line.hasPrefix("SIP/2.0 1"),
            message["CSeq"]?.hasSuffix("INVITE") == true
        {
            let target = state.withLock(\.target)
            return send("ACK", target.isEmpty ? "sip:\(user)@sc.test" : target, branch: "INVITE")
        }
        guard isNew || message.line.hasPrefix("INVITE ") else { return }
        switch message.line.prefix(while: { $0 != " " }) {
        case "INVITE": invited(message)
        case "BYE": reply(message, 200, "OK")
        default: break
        }
    }

    private func invited(_ message: SIPText) {
        if state.withLock({ $0.hangsUpAtInvite && !$0.hasHungUp }) { bye() }
        let isCrossing = state.withLock { state in
            defer { state.invitesAtInvite = false }
            return state.invitesAtInvite
        }
        if isCrossing {
            inviteAgain("")
            return reply(message, 491, "Request Pending")
        }
        // As a strict far end: a dialog has two tags, and its numbers rise.
        let number = message["CSeq"].flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        let status = state.withLock { state in
            let isFirst = state.lastRemoteNumber == 0 && message["To"]?.contains(";tag=") == false
            guard isFirst || message["To"]?.hasSuffix(";tag=far") == true, message["From"] == state.remote else {
                return 481
            }
            guard !state.hasHungUp else { return 481 }
            guard number > state.lastRemoteNumber else { return 500 }
            let status = state.answers.isEmpty ? 200 : state.answers.removeFirst()
            if status != 0, status / 100 == 2 || !isFirst { state.lastRemoteNumber = number }
            return status
        }
        switch status {
        case 0: break
        case 200:
            state.withLock { state in
                state.target = message.uri
                state.peerPort = message.mediaPort ?? state.peerPort
                state.mode =
                    ["sendonly": "a=recvonly", "recvonly": "a=sendonly", "inactive": "a=inactive"][message.direction]
                    ?? ""
            }
            reply(message, 200, "OK", ["Contact: \(contact)", "Content-Type: application/sdp"], description)
        case 401, 407:
            let name = status == 401 ? "WWW" : "Proxy"
            reply(message, status, "Who", ["\(name)-Authenticate: Digest realm=\"far\", nonce=\"n1\", algorithm=MD5"])
        default: reply(message, status, "No")
        }
    }

    private var contact: String { "<sip:bob@127.0.0.1:\(signalling.port)>" }

    private var description: String {
        let mode = state.withLock { $0.mode.isEmpty ? "" : $0.mode + "\r\n" }
        return "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            + "m=audio \(media.port) RTP/AVP 0 8\r\n\(mode)"
    }

    private func send(
        _ method: String, _ uri: String, withSDP: Bool = false, number acknowledged: Int? = nil,
        branch: String? = nil
    ) {
        let (last, remote, routes) = state.withLock { ($0.number, $0.remote, $0.routes) }
        let number = acknowledged ?? last
        let body = withSDP ? description : ""
        let lines =
            [
                "\(method) \(uri) SIP/2.0",
                "Via: SIP/2.0/UDP 127.0.0.1:\(signalling.port);branch=z9hG4bK\(branch ?? method)\(number)\(id.hashValue)",
                "From: \(state.withLock(\.local))", "To: \(remote.isEmpty ? "<sip:\(user)@sc.test>" : remote)",
                "Call-ID: \(id)", "CSeq: \(number) \(method)", "Contact: \(contact)", "Max-Forwards: 70",
            ] + routes.map { "Route: \($0)" } + (withSDP ? ["Content-Type: application/sdp"] : [])
        deliver(lines, body)
    }

    private func reply(_ to: SIPText, _ status: Int, _ phrase: String, _ more: [String] = [], _ body: String = "") {
        let copied = to.headers.filter { ["Via", "Record-Route", "From", "To", "Call-ID", "CSeq"].contains($0.name) }
        let lines = copied.map { name, value in
            name == "To" && !value.contains(";tag=") ? "To: \(value);tag=far" : "\(name): \(value)"
        }
        let all = ["SIP/2.0 \(status) \(phrase)"] + lines + more
        state.withLock { $0.lastAnswer = (all, body) }
        deliver(all, body)
    }

    private func deliver(_ lines: [String], _ body: String) {
        let all = lines + ["Content-Length: \(body.utf8.count)", "", body]
        signalling.send(Array(all.joined(separator: "\r\n").utf8), to: UInt16(Registrar.port) ?? 0)
    }
}

/// A SIP message as text.
struct SIPText {
    let line: String
    let headers: [(name: String, value: String)]
    let body: String

    init(_ text: String) {
        let parts = text.components(separatedBy: "\r\n\r\n")
        var lines = parts[0].components(separatedBy: "\r\n")
        line = lines.removeFirst()
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
        headers = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
    }

    subscript(name: String) -> String? { all(name).first }
    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// Equal for repetitions of one message.
    var identity: String { line + (self["Via"] ?? "") + (self["CSeq"] ?? "") + (self["To"] ?? "") }
    /// The URI of its Contact.
    var uri: String {
        guard let contact = self["Contact"], let start = contact.firstIndex(of: "<"),
            let end = contact.firstIndex(of: ">")
        else { return "" }
        return String(contact[contact.index(after: start)..<end])
    }
    var mediaPort: UInt16? {
        body.components(separatedBy: "\r\n").first { $0.hasPrefix("m=audio ") }
            .flatMap { UInt16($0.split(separator: " ")[1]) }
    }
    /// The version of its SDP.
    var version: Int? {
        body.components(separatedBy: "\r\n").first { $0.hasPrefix("o=") }
            .flatMap { Int($0.split(separator: " ")[2]) }
    }
    var direction: String {
        ["sendonly", "recvonly", "inactive"].first { body.contains("a=\($0)") } ?? "sendrecv"
    }
}

/// A UDP socket on a loopback address.
final class UDPSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    /// Binds a socket; without a port, to one that is free.
    init(at host: String = "127.0.0.1", port wanted: UInt16 = 0) throws {
        let made = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = Self.address(wanted, host)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, length) == 0 ? getsockname(made, $0, &length) : -1
            }
        }
        descriptor = made
        port = UInt16(bigEndian: address.sin_port)
        try #require(result == 0, "\(host):\(wanted) cannot be bound: \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var address = Self.address(port)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    func receive() -> (bytes: [UInt8], port: UInt16)? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
            }
        }
        return count < 0 ? nil : (Array(buffer.prefix(count)), UInt16(bigEndian: address.sin_port))
    }

    static func address(_ port: UInt16, _ host: String = "127.0.0.1") -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return address
    }
}

private func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
