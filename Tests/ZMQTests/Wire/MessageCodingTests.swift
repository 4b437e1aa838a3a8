internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

/// The messages of the protocol: a reader gets exactly the message that was written, and refuses all other bytes.
@Suite("Wire: messages")
struct MessageCodingTests {
    @Test("every request is read as it was written", arguments: Samples.requests.indices)
    func requests(index: Int) throws {
        let request = Samples.requests[index]
        let bytes = try request.bytes()
        let read = try Request(bytes)
        #expect(read.number == request.number)
        #expect(try read.bytes() == bytes)
    }

    @Test("every reply is read as it was written", arguments: Samples.replies.indices)
    func replies(index: Int) throws {
        let reply = Samples.replies[index]
        let read = try Reply(reply.bytes())
        #expect(read.number == reply.number)
        #expect(read.bytes() == reply.bytes())
    }

    @Test("an answer is one frame with its records, which are read as they were written", arguments: [0, 1, 3])
    func records(count: Int) throws {
        let records = (0..<count).map { [UInt8](repeating: UInt8($0), count: [0, 1, 70_000][$0]) }
        for reply in Samples.replies where reply.body.hasRecords {
            let frame = reply.frame(records: records)
            let bytes = frame.bytes
            #expect(bytes.count == frame.byteCount)
            let answer = try Answer(ReceivedFrame(bytes))
            #expect(answer.reply == reply)
            #expect(try answer.records.all() == records)
            #expect(count == 0 || (try? Reply(bytes)) == nil)
        }
    }

    @Test("an answer whose records were cut, or exceed it, is refused; nothing is read behind its end")
    func cutRecords() throws {
        let reply = Reply(number: 5, body: .snapshot(Revision(rawValue: 44)))
        let (head, bytes) = (reply.bytes(), reply.frame(records: [[1, 2], [UInt8](repeating: 3, count: 200)]).bytes)
        let ends = [head.count, head.count + 3]
        for count in head.count..<bytes.count where !ends.contains(count) {
            let answer = try Answer(ReceivedFrame(Array(bytes.prefix(count))))
            #expect(throws: SharedCoreError.self) { _ = try answer.records.all() }
        }
        for count in [[UInt8](repeating: 0xff, count: 9) + [1], [UInt8](repeating: 0xff, count: 11), [0x80]] {
            let answer = try Answer(ReceivedFrame(head + count))
            #expect(throws: SharedCoreError.self) { _ = try answer.records.all() }
        }
        // A reply without records has nothing behind it.
        #expect(throws: SharedCoreError.self) {
            _ = try Answer(ReceivedFrame(Reply(number: 1, body: .done).bytes() + [1, 2]))
        }
    }

    @Test("every message of the stream is read as it was written", arguments: Samples.stream.indices)
    func stream(index: Int) throws {
        let message = Samples.stream[index]
        #expect(try StreamMessage(message.bytes).bytes == message.bytes)
    }

    @Test(
        "a hello whose role is no word is refused",
        arguments: [
            "tool\nowner", "a b", "\u{7}", "\u{2028}", "\u{202e}x", "to\u{200b}ol", "tool\u{feff}", "\u{2060}",
            "to\u{ad}ol",
            "tool\u{e0041}",
        ])
    func role(_ role: String) throws {
        let request = Request(
            number: 1,
            body: .hello(
                Request.Hello(
                    group: "chat", process: ProcessIdentity(bootID: BootID(high: 1, low: 2), pid: 1, startTime: 1),
                    description: SessionDescription(role: SessionRole(rawValue: role)),
                    token: [UInt8](repeating: 1, count: 32), resumed: nil)))
        let error = try #require(throws: SharedCoreError.self) { _ = try Request(request.bytes()) }
        #expect(error.code == .corrupt)
    }

    @Test("each message that is sent is what is heard", arguments: Seed.several(6))
    func invented(seed: Seed) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<300 {
            let request = random.request()
            #expect(try Request(request.bytes()) == request)
            let reply = random.reply()
            #expect(try Reply(reply.bytes()) == reply)
            let message = random.streamMessage()
            #expect(try StreamMessage(message.bytes) == message)
        }
    }

    @Test("a message that was cut is refused at every length")
    func cut() throws {
        for request in Samples.requests {
            let bytes = try request.bytes()
            for count in bytes.indices {
                #expect(throws: SharedCoreError.self) { _ = try Request(Array(bytes.prefix(count))) }
            }
            #expect(throws: SharedCoreError.self) { _ = try Request(bytes + [0]) }
        }
        for reply in Samples.replies {
            let bytes = reply.bytes()
            for count in bytes.indices {
                #expect(throws: SharedCoreError.self) { _ = try Reply(Array(bytes.prefix(count))) }
            }
        }
    }

    @Test("a process whose number no system gives is malformed, in a hello and in a welcome")
    func processNumbers() throws {
        guard case .hello(var hello) = Samples.requests[0].body, case .welcome(let welcome) = Samples.replies[0].body
        else {
            Issue.record("The first samples are these.")
            return
        }
        for pid in [Int32.max, -1, .min] {
            let process = ProcessIdentity(bootID: Samples.process.bootID, pid: pid, startTime: 1)
            hello.process = process
            let request = try Request(number: 1, body: .hello(hello)).bytes()
            #expect(((try? Request(request)) != nil) == (pid > 0), "\(pid)")
            let session = Session(
                id: welcome.session.id, process: process, role: .main, name: "", openedAt: welcome.session.openedAt)
            let reply = Reply(
                number: 1,
                body: .welcome(
                    Reply.Welcome(
                        session: session, incarnation: welcome.incarnation, capabilities: welcome.capabilities,
                        lease: welcome.lease, streamPort: welcome.streamPort, nonce: welcome.nonce)))
            #expect(((try? Reply(reply.bytes())) != nil) == (pid > 0), "\(pid)")
        }
    }

    @Test("C25: a baton beyond its bounds is refused by its rule, and one that cannot be read as that")
    func batonBounds() throws {
        func code(_ count: Int, _ lifetime: Duration = .seconds(1), epoch: UInt64 = 1, behind: [UInt8] = []) -> String?
        {
            let body = Request.Body.keepBaton(
                [UInt8](repeating: 7, count: count), of: Revision(rawValue: epoch), for: lifetime)
            do {
                _ = try Request(Request(number: 1, nonce: Samples.nonce, body: body).bytes() + behind)
                return nil
            } catch { return error.code.description }
        }
        #expect(code(65_536) == nil)
        #expect(code(65_537) == "limitExceeded")
        #expect(code(65_537, .seconds(61)) == "limitExceeded")
        #expect(code(65_537, behind: [0]) == "corrupt")
        #expect(code(1, epoch: 0) == "invalidArgument")
        #expect(code(1, .milliseconds(999)) == "invalidArgument")
        #expect(code(1, .seconds(60)) == nil)
        #expect(code(1, .nanoseconds(60_000_000_001)) == "invalidArgument")
        #expect(code(1, .seconds(61), behind: [0]) == "corrupt")
        // A client refuses such an answer, too.
        let answer = Reply(number: 1, body: .baton([UInt8](repeating: 7, count: 65_537)))
        #expect(throws: SharedCoreError.self) { _ = try Reply(answer.bytes()) }
    }

    @Test("another version is refused as such")
    func version() throws {
        for request in Samples.requests {
            var bytes = try request.bytes()
            bytes[0] = Wire.version + 1
            let error = #expect(throws: SharedCoreError.self) { _ = try Request(bytes) }
            #expect(error?.code == .incompatible)
        }
    }

    @Test("damaged and invented messages are refused or read, and nothing traps", arguments: Seed.several(6))
    func fuzz(seed: Seed) throws {
        var random = SeededRandom(seed)
        let originals =
            try Samples.requests.map { try $0.bytes() } + Samples.replies.map { $0.bytes() }
            + Samples.stream.map(\.bytes)
        var readable = 0
        for _ in 0..<20_000 {
            var bytes = originals.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                case 1:
                    bytes.insert(.random(in: 0...255, using: &random), at: .random(in: 0...bytes.count, using: &random))
                case 2 where !bytes.isEmpty: bytes.remove(at: .random(in: bytes.indices, using: &random))
                case 3: bytes = Array(bytes.prefix(.random(in: 0...bytes.count, using: &random)))
                default: bytes += (0..<8).map { _ in .random(in: 128...255, using: &random) }
                }
            }
            // Each value has one form: bytes that can be read are written the same way.
            if let request = try? Request(bytes) {
                readable += 1
                #expect(try request.bytes() == bytes)
            }
            if let reply = try? Reply(bytes) {
                readable += 1
                #expect(reply.bytes() == bytes)
            }
            if let message = try? StreamMessage(bytes) {
                readable += 1
                #expect(message.bytes == bytes)
            }
        }
        #expect(readable > 0)
    }
}
