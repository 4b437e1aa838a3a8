internal import CoreAPI
internal import Testing
internal import ZMQBackend

@Suite("E2: endpoints")
struct HubEndpointTests {
    @Test(
        "an endpoint is read and written as it was",
        arguments: [
            "ipc:///run/user/1000/chat/hub", "tcp://127.0.0.1:5555", "tcp://hub.example:1", "tcp://[::1]:5555",
            "tcp://127.0.0.1:*", "inproc://chat",
        ])
    func readable(text: String) throws {
        #expect(try HubEndpoint(text).description == text)
    }

    @Test(
        "anything else is refused with what would be right",
        arguments: [
            "", "ipc", "ipc://", "ipc://relative/path", "tcp://127.0.0.1", "tcp://:5555", "tcp://host:port",
            "tcp://host:65536", "tcp://host:-1", "tcp://host:65535", "inproc://", "udp://host:1", "://x", "ipc:///a\0b",
        ])
    func refused(text: String) {
        let error = #expect(throws: SharedCoreError.self) { _ = try HubEndpoint(text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("the longest path of a socket is accepted, a longer one refused by its length")
    func pathLength() throws {
        let longest = "/" + String(repeating: "a", count: HubEndpoint.maximumPathByteCount - 1)
        #expect(try HubEndpoint("ipc://" + longest) == .ipc(path: longest))
        let error = #expect(throws: SharedCoreError.self) { _ = try HubEndpoint("ipc://" + longest + "a") }
        #expect(error?.message.contains("\(HubEndpoint.maximumPathByteCount)") == true)
    }

    @Test(
        "who reaches an endpoint",
        arguments: [
            ("ipc:///a", true), ("inproc://a", true), ("tcp://127.0.0.1:1", true), ("tcp://127.8.9.1:1", true),
            ("tcp://localhost:1", true), ("tcp://[::1]:1", true), ("tcp://0.0.0.0:1", false),
            ("tcp://127.0.0.1.evil.example:1", false), ("tcp://192.168.0.1:1", false), ("tcp://*:1", false),
            ("tcp://eth0:1", false), ("tcp://128.0.0.1:1", false),
        ])
    func locality(text: String, isLocal: Bool) throws {
        #expect(try HubEndpoint(text).isLocal == isLocal)
    }
}
