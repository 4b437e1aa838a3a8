internal import CoreAPI
internal import CoreAPITesting
internal import Platform

@testable internal import ZMQBackend

/// Records each frame that a hub sends: to all of its clients, to one that joins late, and to a reader. For a hub at an
/// `ipc` endpoint, where frames are not encrypted.
final class HubListener {
    private let endpoint: HubEndpoint
    private let stream: Socket
    private(set) var frames: [[UInt8]] = []

    init(at endpoint: HubEndpoint) throws {
        self.endpoint = endpoint
        stream = try Socket(.subscriber, for: endpoint.stream().description)
        try stream.set(.subscribe, [UInt8]())
        try stream.connect()
    }

    deinit {
        stream.close()
    }

    /// Reads the frames of the stream that have arrived.
    func listen() {
        while let message = stream.receive(upTo: 64) { frames += message.frames }
    }

    /// Joins, and requests the state, the history and a reader's view.
    func ask() async throws {
        let socket = try Socket(.dealer, for: endpoint.description)
        defer { socket.close() }
        try socket.connect()
        let hello = Request.Hello(
            group: "group", process: .current, description: SessionDescription(),
            token: [UInt8](repeating: 9, count: Wire.tokenByteCount), resumed: nil)
        let answer = try await ask(Request(number: 1, body: .hello(hello)), through: socket)
        guard case .welcome(let welcome) = try Answer(ReceivedFrame(answer)).reply.body else {
            throw HarnessLimitation("no welcome")
        }
        let bodies: [Request.Body] = [.catchUp(after: nil), .history(after: .zero), .view(group: "group")]
        for (number, body) in bodies.enumerated() {
            _ = try await ask(
                Request(number: UInt64(number) + 2, nonce: welcome.nonce, body: body), through: socket)
        }
    }

    private func ask(_ request: Request, through socket: Socket) async throws -> [UInt8] {
        let bytes = try request.bytes()
        try await eventually("the request is sent") { socket.send([bytes]) }
        var first: [UInt8]?
        try await eventually("the hub answers") {
            guard let message = socket.receive(upTo: 64) else { return false }
            frames += message.frames
            first = message.frames.first
            return true
        }
        return try expectSome(first, "an answer")
    }
}
