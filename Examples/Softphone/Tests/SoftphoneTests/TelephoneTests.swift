import Coordination
import CoreAPI
import Glibc
import InMemoryBackend
import Synchronization
import Testing

@testable import SIPCore

/// Without a registrar: a socket takes the requests, and nothing answers them.
struct TelephoneTests {
    @Test("Each send that waits ends with the core, also one that the core did not come to", .timeLimit(.minutes(2)))
    func endsWithTheCore() async throws {
        let (socket, port) = try silentPort()
        defer { close(socket) }
        let telephone = try SIPTelephone(account(at: port))
        await expectError(.unavailable) { try await telephone.send("Tea?", to: "sip:bob@sc.test") }
        let group = try await MemorySpace().open("phone", as: SessionDescription(role: .main))
        let sending = Task {
            await withTaskGroup { sends in
                while !Task.isCancelled {
                    sends.addTask { await self.sendInVain(by: telephone) }
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
        }
        try await group.withMain(core: { telephone.makeCore() }) { _ in try await Task.sleep(for: .milliseconds(500)) }
        sending.cancel()
        await sending.value
        await group.close()
    }

    @Test(
        "A text that would change the meaning of a header or a URI is refused",
        arguments: ["alice:secret", "alice@host", "alice>", "alice;x=y", "alice\r\nVia", "a b", "", "[alice]"])
    func refuses(_ user: String) {
        let account = SIPAccount(
            user: user, domain: "sc.test", password: SIPPassword("Tea"), registrar: "127.0.0.1", instance: "urn:uuid:1")
        #expect { try SIPTelephone(account) } throws: { ($0 as? SharedCoreError)?.code == .invalidArgument }
    }

    @Test("C25: a baton that no core has written is read as none, and makes no call")
    func readsGarbage() throws {
        let (socket, port) = try silentPort()
        defer { close(socket) }
        let stack = SIPStack(try SIPTelephone(account(at: port)))
        try stack.open()
        defer { stack.close() }
        let sample = SIPDialog.sample
        let bytes = SIPDialog.bytes(of: [sample])
        #expect(SIPDialog.all(in: bytes) == [sample])
        let descriptor = try udpSocket()
        #expect(stack.makeCall(from: sample, descriptor))
        #expect(fcntl(descriptor, F_GETFD) < 0)
        for count in 0..<bytes.count { #expect(SIPDialog.all(in: Array(bytes.prefix(count))) == nil) }
        #expect(SIPDialog.all(in: bytes + [0]) == nil)
        var random = SystemRandomNumberGenerator()
        var made = 0
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8) {
                changed[Int.random(in: changed.indices)] = UInt8.random(in: 0...255, using: &random)
            }
            // One that can still be read: the stack reads its texts.
            guard let dialog = SIPDialog.all(in: changed)?.first else { continue }
            made += stack.makeCall(from: dialog, try udpSocket()) ? 1 : 0
        }
        #expect(made > 0, "Some changes leave a dialog.")
        var texts = ["a@b", "<sip:a@b>;tag=1", "<sip:b@b>;tag=2", "<sip:b@127.0.0.1>", "", "127.0.0.1"]
        for index in texts.indices {
            for text in ["", "<", "\"", ",,,", ";tag=", "<sip:", "\u{1F4DE}", String(repeating: "<", count: 4_000)] {
                let kept = texts[index]
                texts[index] = text
                _ = stack.makeCall(from: SIPDialog(texts: texts), try udpSocket())
                texts[index] = kept
            }
            let long = String(repeating: "a", count: SIPDialog.maximumTextByteCount + 1)
            for text in [long, "a\r\nVia: b", "\u{0}"] {
                var refused = texts
                refused[index] = text
                #expect(SIPDialog.all(in: SIPDialog.bytes(of: [SIPDialog(texts: refused)])) == nil)
            }
        }
        // A descriptor other than a UDP socket is refused, and closed.
        let file = Glibc.open("/dev/null", O_RDONLY)
        #expect(!stack.makeCall(from: sample, file))
        #expect(fcntl(file, F_GETFD) < 0)
        #expect(!stack.makeCall(from: sample, -1))
    }

    @Test("C25: a Main that cannot read a baton refuses it, and continues without the call", .timeLimit(.minutes(2)))
    func refusesGarbage() async throws {
        let (socket, port) = try silentPort()
        defer { close(socket) }
        let telephone = try SIPTelephone(account(at: port))
        let space = MemorySpace()
        let executorGroup = try await space.open("phone", as: SessionDescription(role: .executor))
        let former = FormerCore()
        let id = try #require(CallID("garbage@far"))
        let executing = Task {
            try await executorGroup.withExecutor(core: { former }) { executor in
                _ = try await executor.message(forCallID: id, timeout: .seconds(20))
            }
        }
        let mainGroup = try await space.open("phone", as: SessionDescription(role: .main))
        let watcher = try await space.open("phone", as: SessionDescription(role: .tool))
        while try await Calls(watcher).list().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        var options = CoordinationOptions()
        options.takesBatons = [SIPTelephone.batonKind]
        try await mainGroup.withMain(options: options, core: { telephone.makeCore() }) { _ in
            let states = try await Calls(watcher).list().map(\.state)
            #expect(states == [.ended(.lost)])
        }
        try await executing.value
        await watcher.close()
        #expect(former.end == .failed)
    }

    @Test("C26: the cancellation of one wait for work ends that wait alone", .timeLimit(.minutes(2)))
    func cancelsOneWait() async throws {
        let (socket, port) = try silentPort()
        defer { close(socket) }
        let telephone = try SIPTelephone(account(at: port))
        telephone.rests(try SIPRest(of: socket, atMost: nil))
        let end = OneTimeGate()
        let waiting = Task {
            try await telephone.waitForWork()
            end.open()
        }
        for _ in 1...20 {
            let cancelled = Task { try await telephone.waitForWork() }
            cancelled.cancel()
            try await cancelled.value
        }
        #expect(!end.isOpen)
        try await withThrowingTaskGroup { waits in
            for _ in 1...2 { waits.addTask { try await telephone.waitForWork() } }
            waits.addTask { try await waiting.value }
            telephone.rests(nil)
            try await waits.waitForAll()
        }
        #expect(end.isOpen)
        // Data ends a wait, too.
        telephone.rests(try SIPRest(of: socket, atMost: nil))
        async let next: Void = telephone.waitForWork()
        let (sender, _) = try silentPort()
        defer { close(sender) }
        #expect(send("Tea?", from: sender, to: port) == 4)
        try await next
    }

    @Test("C26: a request that waits for the loop while a rest begins is refused", .timeLimit(.minutes(2)))
    func refusesBehindRest() async throws {
        let (silent, _) = try silentPort()
        defer { close(silent) }
        // Nothing listens at the port, so the registration fails at once.
        let (socket, port) = try silentPort()
        close(socket)
        let isHeld = OneTimeGate()
        let isFree = OneTimeGate()
        let telephone = try SIPTelephone(account(at: port)) { event in
            guard case .registrationFailed = event, isHeld.open() else { return }
            isFree.block()  // the loop's thread
        }
        let group = try await MemorySpace().open("phone", as: SessionDescription(role: .main))
        try await group.withMain(core: { telephone.makeCore() }) { _ in
            await isHeld.passed()
            let sender = Sender(telephone)
            let sending = Task { await sender.send() }
            // The actor is free only when the request waits for its answer.
            while await !sender.hasBegun { await Task.yield() }
            telephone.rests(try SIPRest(of: silent, atMost: nil))
            isFree.open()
            let error = await sending.value
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("rests") == true, "\(String(describing: error))")
        }
        await group.close()
    }

    private func send(_ text: String, from socket: Int32, to port: UInt16) -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, text, text.utf8.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func account(at port: UInt16) -> SIPAccount {
        SIPAccount(
            user: "alice", domain: "sc.test", password: SIPPassword("Tea"), registrar: "127.0.0.1", port: port,
            transport: .udp, instance: "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
    }

    private func udpSocket() throws -> Int32 {
        let (socket, _) = try silentPort()
        return socket
    }

    private func silentPort() throws -> (socket: Int32, port: UInt16) {
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
            }
        }
        try #require(result == 0)
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    private func sendInVain(by telephone: SIPTelephone) async {
        do throws(SharedCoreError) {
            try await telephone.send("Tea?", to: "sip:bob@sc.test")
            Issue.record("No one answers, and the message was sent.")
        } catch {
            #expect(error.code == .outcomeUnknown || error.code == .unavailable, "\(error)")
        }
    }

    private func expectError(_ code: SharedCoreError.Code, _ body: () async throws -> Void) async {
        await #expect { try await body() } throws: { ($0 as? SharedCoreError)?.code == code }
    }
}

/// Sends one message. The actor is free while the message waits for its answer.
private actor Sender {
    private let telephone: SIPTelephone
    private(set) var hasBegun = false

    init(_ telephone: SIPTelephone) { self.telephone = telephone }

    func send() async -> SharedCoreError? {
        hasBegun = true
        do throws(SharedCoreError) {
            try await telephone.send("Tea?", to: "sip:bob@sc.test")
            return nil
        } catch {
            return error
        }
    }
}

/// A gate that opens once, and at which a thread or a task waits.
private final class OneTimeGate: Sendable {
    private let state = Atomic(false)

    var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) }

    /// Returns false if it was open before.
    @discardableResult
    func open() -> Bool { !state.exchange(true, ordering: .sequentiallyConsistent) }

    func block() {
        while !isOpen { usleep(1_000) }
    }

    func passed() async {
        while !isOpen { await Task.yield() }
    }
}

extension SIPDialog {
    fileprivate static var sample: SIPDialog {
        SIPDialog(texts: [
            "a84b4c76e66710@pc33", "\"Alice\" <sip:alice@sc.test>;tag=a6c85cf", "<sip:bob@sc.test>;tag=1928301774",
            "<sip:bob@127.0.0.1:5070;transport=tcp>", "<sip:127.0.0.1:5060;transport=tcp;lr>, <sip:10.0.0.1;lr>",
            "127.0.0.1",
        ])
    }
}

/// A core with a call that gives a baton with bytes of another program.
private final class FormerCore: Core {
    private let heard = Mutex<BatonEnd?>(nil)
    var end: BatonEnd? { heard.withLock { $0 } }

    func start(in context: CoreContext) async throws {
        guard let id = CallID("garbage@far") else { return }
        _ = try await context.begin(
            call: CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob"), in: .answered,
            moves: SIPTelephone.batonKind)
    }

    func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3_600)) }
    func stop() async {}

    func handOver(_ request: StopRequest) async -> Baton? {
        guard let id = CallID("garbage@far") else { return nil }
        return try? Baton(SIPTelephone.batonKind, bytes: [1, 0xFF, 0xFF, 3], calls: [id])
    }

    func batonEnded(_ end: BatonEnd) async { heard.withLock { $0 = end } }
}
