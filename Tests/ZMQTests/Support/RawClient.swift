internal import CZMQ
internal import CoreAPI
internal import CoreAPITesting
internal import Testing

@testable import ZMQBackend

/// A client that sends any request that a test gives it, even one that no real client sends.
final class RawClient {
    private let socket: Socket
    private var number: UInt64 = 0
    /// The nonce that the hub has given the connection with its welcome.
    private(set) var nonce = ConnectionNonce.none

    /// - Parameter name: The routing identity of the connection; nil for one that the library makes up.
    init(at endpoint: HubEndpoint, keys: CurveClientKeys? = nil, named name: String? = nil) throws {
        socket = try Socket(.dealer, for: endpoint.description)
        if let keys {
            try socket.set(.curveServerKey, keys.hub.utf8)
            try socket.set(.curvePublicKey, keys.own.publicKey.utf8)
            try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
        }
        if let name { #expect(zmq_setsockopt(socket.handle, ZMQ_ROUTING_ID, name, name.utf8.count) == 0) }
        try socket.connect()
    }

    deinit {
        socket.close()
    }

    /// Sends a request and waits for the answer.
    func ask(_ body: Request.Body) async throws -> Reply {
        number += 1
        let answer = try await ask(try Request(number: number, nonce: nonce, body: body).bytes())
        if case .welcome(let welcome) = answer.body { nonce = welcome.nonce }
        return answer
    }

    /// Sends the bytes of a request and waits for an answer.
    func ask(_ bytes: [UInt8]) async throws -> Reply {
        try await say(bytes)
        var answer: Reply?
        try await eventually("the hub answers") {
            answer = try hear()
            return answer != nil
        }
        return try expectSome(answer, "an answer")
    }

    /// Sends the bytes of a request.
    func say(_ bytes: [UInt8]) async throws {
        try await eventually("the request is sent") { socket.send([bytes]) }
    }

    /// Returns the next answer; nil if none has arrived.
    func hear() throws -> Reply? {
        guard let message = socket.receive(upTo: 8) else { return nil }
        try expect(message.frames.count, is: 1, "the number of frames of an answer")
        return try Answer(ReceivedFrame(message.frames[0])).reply
    }
}
