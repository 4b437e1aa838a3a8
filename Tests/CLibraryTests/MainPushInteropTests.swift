internal import CSharedCore
internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Mailboxes
internal import Platform
internal import TestSupport
internal import Testing

/// A Main through the C library, and pushes that a program in Swift routes to it as a host does.
@Suite("A Main in C takes the pushes that are routed to it")
struct MainPushInteropTests {
    @Test("A push comes with all that it has, is given back, is taken again, and is gone when it was acknowledged")
    func takenAndGivenBack() async throws {
        try await withQueue { queue, directory in
            try await send("one", to: queue)
            let taken = await inC(directory) { main in
                let pushes = main.begin()
                let first = main.take(pushes)
                guard sc_push_give_back(first.handle, nil) == SC_OK else { return "no return" }
                guard sc_push_give_back(first.handle, nil) == SC_ERR_HANDLE else { return "given back twice" }
                let second = main.take(pushes)
                var acknowledged: Int32 = 0
                guard sc_push_acknowledge(second.handle, &acknowledged, nil) == SC_OK else { return "not acknowledged" }
                return "\(first.text), \(second.text), \(acknowledged)"
            }
            #expect(taken.text == "one call work [0, 255], one call work [0, 255], 1")
            #expect(try await queue.mailbox.count().total == 0)
            for handle in taken.open { sc_close(handle) }
        }
    }

    @Test("The push that is taken ahead of the program is given back by a close, another request and the Main's end")
    func takenAhead() async throws {
        try await withQueue { queue, directory in
            try await send("one", to: queue)
            let ends = await inC(directory) { main in
                let closed = main.begin()
                guard main.isReadable(closed), sc_close(closed) == SC_OK else { return "not closed" }
                let replaced = main.begin()
                guard main.isReadable(replaced) else { return "the second does not get it" }
                let last = main.begin()
                guard main.isReadable(last) else { return "the third does not get it" }
                guard sc_pushes_next(replaced, 30_000, &main.taken, &main.push, nil) == SC_ENDED else {
                    return "the second goes on"
                }
                guard sc_participant_end(main.participant, nil) == SC_OK else { return "no end" }
                main.answerUntilEnded()
                let end = sc_pushes_next(last, 30_000, &main.taken, &main.push, nil)
                return end == SC_ENDED ? "ended" : "goes on: \(end)"
            }
            #expect(ends.text == "ended")
            let count = try await queue.mailbox.count()
            #expect(count.waiting == 1 && count.taken == 0)
            for handle in ends.open { sc_close(handle) }
        }
    }

    @Test("A close within a take gives the push back")
    func closedWithinTake() async throws {
        try await withQueue { queue, directory in
            try await send("one", to: queue)
            let ends = await inC(directory) { main in
                for turn in 0..<400 {
                    let pushes = main.begin()
                    // From at once to after the commit.
                    let end = SystemClock().now().advanced(by: .microseconds(turn % 100 * 10))
                    while SystemClock().now() < end {}
                    guard sc_close(pushes) == SC_OK else { return "not closed" }
                }
                return "closed"
            }
            #expect(ends.text == "closed")
            try await eventually("the push is given back") {
                let count = try await queue.mailbox.count()
                return count.waiting == 1 && count.taken == 0
            }
            for handle in ends.open { sc_close(handle) }
        }
    }

    private func withQueue(_ body: (MainPushQueue, String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, as: SessionDescription(role: .tool))
        try await body(try MainPushQueue(group), path)
        await group.close()
    }

    private func send(_ id: String, to queue: MainPushQueue) async throws {
        let push = try Push(try #require(CallID(id)), type: "call", account: "work", payload: [0, 255])
        try await queue.mailbox.send(queue.bytes(of: push, for: .seconds(3600)))
    }

    /// Runs a Main in C on a thread of its own.
    ///
    /// - Returns: What the body gives, and the handles that are open: with the end of the session all would be given back.
    private func inC(
        _ directory: String, _ body: @escaping @Sendable (MainInC) -> String
    ) async -> (text: String, open: [UInt64]) {
        await SerialThread(name: "c").run { () throws(Never) in
            guard let main = MainInC(directory) else { return ("no Main", []) }
            return (body(main), [main.participant, main.group])
        }
    }
}

/// A Main by the calls of the header.
private final class MainInC {
    var group: UInt64 = 0
    var participant: UInt64 = 0
    var taken: UInt64 = 0
    var push: UnsafePointer<sc_push>?

    init?(_ directory: String) {
        let code = directory.withCString { path in
            "main".withCString { role in
                var options = sc_options()
                options.size = MemoryLayout<sc_options>.size
                options.directory = path
                options.role = role
                return sc_open(&options, &group, nil)
            }
        }
        guard code == SC_OK, sc_main_start(group, nil, &participant, nil) == SC_OK else { return nil }
        guard answer() == SC_CORE_START, answer() == SC_STARTED else { return nil }
    }

    /// Takes an event, answers it, and returns its kind; 0 for none.
    private func answer() -> Int32 {
        var event = sc_participant_event()
        defer { sc_participant_event_free(&event) }
        guard sc_participant_next(participant, 30_000, &event, nil) == SC_OK else { return 0 }
        if event.kind == SC_CORE_START { sc_core_started(event.core, nil) }
        if event.kind == SC_CORE_STOP { sc_core_stopped(event.core, nil) }
        return event.kind
    }

    func answerUntilEnded() {
        while ![0, Int32(SC_PARTICIPANT_ENDED)].contains(answer()) {}
    }

    func begin() -> UInt64 {
        var pushes: UInt64 = 0
        return sc_main_pushes(participant, &pushes, nil) == SC_OK ? pushes : 0
    }

    func isReadable(_ pushes: UInt64) -> Bool {
        var descriptor: Int32 = -1
        return sc_descriptor(pushes, &descriptor, nil) == SC_OK
            && Poll.wait(for: [descriptor], timeout: .seconds(30))[0]
    }

    func take(_ pushes: UInt64) -> (handle: UInt64, text: String) {
        guard isReadable(pushes), sc_pushes_next(pushes, 0, &taken, &push, nil) == SC_OK, let found = push?.pointee
        else { return (0, "none") }
        defer { sc_push_free(&push) }
        let payload = Array(UnsafeBufferPointer(start: found.payload, count: found.payload_count))
        let texts = [found.call_id, found.type, found.account].map { text in text.map { String(cString: $0) } ?? "" }
        return (taken, texts.joined(separator: " ") + " \(payload)")
    }
}
