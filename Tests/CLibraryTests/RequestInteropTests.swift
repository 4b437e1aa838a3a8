internal import CSharedCore
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import TestSupport
internal import Testing
internal import Wormholes

/// A program in Swift and one that calls the C library, in one group.
@Suite("Requests go between Swift and C")
struct RequestInteropTests {
    /// Requests in JSON, which the C side reads as bytes.
    private static let doubling = RequestID<Int, Int>("double")

    @Test("C answers and refuses requests of Swift, and Swift those of C", .timeLimit(.minutes(1)))
    func bothWays() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, as: SessionDescription(role: .tool))
        let wormhole = Wormhole(group)
        let thread = SerialThread(name: "c")

        let requesting = Task { try await wormhole.request(21, of: Self.doubling, timeout: .seconds(30)) }
        let answered = await thread.run { () throws(Never) in Self.answer(in: path, with: "42") }
        #expect(answered == "21")
        #expect(try await requesting.value == 42)

        let refused = Task { try await wormhole.request(0, of: Self.doubling, timeout: .seconds(30)) }
        #expect(await thread.run { () throws(Never) in Self.answer(in: path, with: nil) } == "0")
        await #expect {
            _ = try await refused.value
        } throws: {
            ($0 as? WormholeError)?.code == .refused && "\($0)".contains("zero")
        }

        let answering = Task {
            for try await request in try await wormhole.requests(of: Self.doubling) {
                try await request.reply(request.request * 2)
                return
            }
        }
        #expect(await thread.run { () throws(Never) in Self.request("4", in: path) } == "8")
        try await answering.value
        await group.close()
    }

    /// Takes a request in C and replies, or refuses it. Returns the request.
    private static func answer(in directory: String, with reply: String?) -> String? {
        withGroup(directory) { group in
            var (responder, request) = (UInt64(0), UInt64(0))
            var bytes = sc_bytes()
            defer { sc_bytes_free(&bytes) }
            guard sc_responder_open(group, "double", "json", &responder, nil) == SC_OK,
                sc_responder_take(responder, 30_000, &request, &bytes, nil) == SC_OK
            else { return nil }
            if let reply {
                guard sc_reply(request, reply, reply.utf8.count, nil, nil) == SC_OK else { return nil }
            } else {
                guard sc_refuse(request, "zero", nil, nil) == SC_OK else { return nil }
            }
            return text(bytes)
        }
    }

    /// Sends a request in C. Returns the reply.
    private static func request(_ request: String, in directory: String) -> String? {
        withGroup(directory) { group in
            var bytes = sc_bytes()
            defer { sc_bytes_free(&bytes) }
            let code = sc_request(group, "double", "json", request, request.utf8.count, 30_000, &bytes, nil)
            return code == SC_OK ? text(bytes) : nil
        }
    }

    private static func text(_ bytes: sc_bytes) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes.bytes, count: bytes.count), as: UTF8.self)
    }

    private static func withGroup(_ directory: String, _ body: (UInt64) -> String?) -> String? {
        var group: UInt64 = 0
        let code = directory.withCString { path in
            var options = sc_options()
            options.size = MemoryLayout<sc_options>.size
            options.directory = path
            return sc_open(&options, &group, nil)
        }
        guard code == SC_OK else { return nil }
        defer { sc_close(group) }
        return body(group)
    }
}
