// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import WormholeFormat

/// The requests of one name, for a program that answers them.
final class ResponderObject: PollableObject {
    /// The queue of the requests.
    let queue: MailboxObject
    let codec: String
    let replyPath: String

    init(_ queue: MailboxObject, codec: String, replyPath: String) {
        self.queue = queue
        self.codec = codec
        self.replyPath = replyPath
    }

    var descriptor: Int32 { get throws(Failure) { try queue.descriptor } }

    func close() { queue.close() }

    /// Waits for a request until the timeout, then returns nil. Refuses each request of another codec or schema, as `Wormholes`
    /// does.
    ///
    /// - Parameter timeout: Milliseconds; 0 never waits, below 0 waits without a limit.
    func take(within timeout: Int64) throws(Failure) -> (ReceivedObject, [UInt8])? {
        let deadline = Deadline(timeout)
        while let delivery = try queue.take(until: deadline, waits: timeout != 0) {
            let envelope = Envelope(delivery.bytes)
            let received = ReceivedObject(
                TakenRequest(delivery, of: queue.mailbox, replyTo: envelope?.replyTo, below: replyPath), codec: codec)
            switch Content.of(envelope, codec: codec) {
            case .message(let bytes): return (received, bytes)
            case .failure(let problem):
                try wait { () async throws(SharedCoreError) in try await received.request.dismiss(because: problem) }
            }
        }
        return nil
    }
}

/// A request that was taken.
final class ReceivedObject: HandleObject {
    let request: TakenRequest
    let codec: String

    init(_ request: TakenRequest, codec: String) {
        self.request = request
        self.codec = codec
    }

    /// Does nothing: the request stays taken until the session ends.
    func close() {}
}

/// The content of an envelope, as a program that reads one codec sees it.
private enum Content {
    /// The schema of every message of this interface: the default of `Wormholes`.
    static let schema: UInt32 = 1

    case message([UInt8])
    case failure(String)

    static func of(_ envelope: Envelope?, codec: String) -> Content {
        guard let envelope, case .message(let bytes) = envelope.content else {
            return .failure("The message was not written by a wormhole of this version.")
        }
        guard envelope.schema <= schema else {
            return .failure("The message has version \(envelope.schema), and this program knows up to \(schema).")
        }
        guard envelope.codec == codec else {
            return .failure("The message is written as “\(envelope.codec)”, not as “\(codec)”.")
        }
        return .message(bytes)
    }
}

private func codec(_ pointer: UnsafePointer<CChar>?) throws(Failure) -> String {
    let codec = try optionalText(pointer, "codec") ?? "bytes"
    guard (1...Envelope.maximumCodecByteCount).contains(codec.utf8.count) else {
        throw Failure(
            .invalidArgument, "The name of a codec has 1 to \(Envelope.maximumCodecByteCount) bytes.", at: "codec")
    }
    return codec
}

private func exchange(_ group: UInt64, _ name: UnsafePointer<CChar>?) throws(Failure) -> RequestExchange {
    RequestExchange(
        try Handles.find(group, as: GroupObject.self).store, root: WormholeRoot(directory: nil),
        name: try text(name, "name"))
}

/// A request of a C caller, ready to be sent.
private struct OutgoingRequest: Sendable {
    private let exchange: RequestExchange
    private let envelope: Envelope
    private let codec: String
    private let limit: Duration
    let executor: (any TaskExecutor)?

    init(
        _ group: UInt64, _ name: UnsafePointer<CChar>?, _ codec: UnsafePointer<CChar>?, _ bytes: UnsafePointer<UInt8>?,
        _ count: Int, _ timeout: Int64
    ) throws(Failure) {
        self.codec = try CLibrary.codec(codec)
        exchange = try CLibrary.exchange(group, name)
        executor = try Handles.find(group, as: GroupObject.self).store.deliveryExecutor
        envelope = Envelope(
            codec: self.codec, schema: Content.schema, replyTo: exchange.replyPath,
            content: .message(try CLibrary.bytes(bytes, count, "bytes")))
        // The request expires at its timeout. A timeout of 0 would expire it before a program could take it, so use 1
        // ms.
        limit = Deadline.duration(timeout == 0 ? 1 : timeout)
    }

    /// Sends the request, and returns the bytes of the reply.
    ///
    /// - Throws: `timeout` without a reply, `refused`, `incompatible` for a reply of another codec, and the errors of the
    ///   store.
    func reply() async throws(Failure) -> [UInt8] {
        let found: [UInt8]?
        do throws(SharedCoreError) {
            found = try await exchange.reply(to: envelope, within: limit)
        } catch {
            throw Failure(error)
        }
        guard let found else { throw Failure(.timeout, "The request was not answered in time.", at: "request") }
        let answer = Envelope(found)
        if case .failure(let reason)? = answer?.content { throw Failure(.refused, reason, at: "request") }
        switch Content.of(answer, codec: codec) {
        case .message(let bytes): return bytes
        case .failure(let problem): throw Failure(.incompatible, problem, at: "reply")
        }
    }
}

/// Stores bytes for the caller, in a block of their own.
private func store(_ bytes: [UInt8], in place: UnsafeMutablePointer<sc_bytes>) {
    var block = Block(size: bytes.count)
    place.pointee = sc_bytes(bytes: block.bytes(bytes), count: bytes.count)
}

@c @implementation public func sc_request(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ codec: UnsafePointer<CChar>?, _ bytes: UnsafePointer<UInt8>?,
    _ count: Int, _ timeout: Int64, _ reply: UnsafeMutablePointer<sc_bytes>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(reply, "reply")
        result.pointee = sc_bytes()
        let request = try OutgoingRequest(group, name, codec, bytes, count, timeout)
        let outcome: Result<[UInt8], Failure> = CallingThread.wait {
            do throws(Failure) { return .success(try await request.reply()) } catch { return .failure(error) }
        }
        store(try outcome.get(), in: result)
        return Answer.ok
    }
}

/// A request that was sent, and whose reply a program waits for. Its one event is the outcome. Closing it cancels the
/// task that waits for the reply.
final class PendingRequestObject: PollableObject {
    private let events: PollableEvents<Result<[UInt8], Failure>>

    fileprivate init(_ request: OutgoingRequest) throws(Failure) {
        let isSent = OneWayFlag()
        events = try CLibrary.store { () throws(SharedCoreError) in
            try PollableEvents(on: request.executor, next: outcome, cancel: {})
        }
        @Sendable func outcome() async throws(SharedCoreError) -> Result<[UInt8], Failure>? {
            if isSent.isRaised { return nil }
            isSent.raise()
            do throws(Failure) { return .success(try await request.reply()) } catch { return .failure(error) }
        }
    }

    var descriptor: Int32 { events.descriptor }

    /// Waits for the outcome until the timeout, then returns `nothing`.
    func take(within timeout: Int64) throws(Failure) -> PollableEvents<Result<[UInt8], Failure>>.Next {
        try events.take(within: timeout)
    }

    func close() { events.cancel() }
}

@c @implementation public func sc_request_start(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ codec: UnsafePointer<CChar>?, _ bytes: UnsafePointer<UInt8>?,
    _ count: Int, _ timeout: Int64, _ request: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(request, "request")
        result.pointee = 0
        let request = try OutgoingRequest(group, name, codec, bytes, count, timeout)
        result.pointee = try Handles.add(try PendingRequestObject(request))
        return Answer.ok
    }
}

@c @implementation public func sc_request_next(
    _ request: UInt64, _ timeout: Int64, _ reply: UnsafeMutablePointer<sc_bytes>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(reply, "reply")
        result.pointee = sc_bytes()
        switch try Handles.find(request, as: PendingRequestObject.self).take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let outcome):
            store(try outcome.get(), in: result)
            return Answer.ok
        }
    }
}

@c @implementation public func sc_responder_open(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ codec: UnsafePointer<CChar>?,
    _ responder: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(responder, "responder")
        result.pointee = 0
        let codec = try CLibrary.codec(codec)
        let exchange = try exchange(group, name)
        let queue = try store { () throws(SharedCoreError) in try exchange.queue() }
        let replies = WormholeRoot(directory: nil).path(of: .replies)
        result.pointee = try Handles.add(ResponderObject(MailboxObject(queue), codec: codec, replyPath: replies))
        return Answer.ok
    }
}

@c @implementation public func sc_responder_take(
    _ responder: UInt64, _ timeout: Int64, _ request: UnsafeMutablePointer<UInt64>?,
    _ bytes: UnsafeMutablePointer<sc_bytes>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let handle = try required(request, "request")
        let content = try required(bytes, "bytes")
        handle.pointee = 0
        content.pointee = sc_bytes()
        let object = try Handles.find(responder, as: ResponderObject.self)
        guard let (received, bytes) = try object.take(within: timeout) else { return Answer.nothing }
        handle.pointee = try Handles.add(received)
        var block = Block(size: bytes.count)
        content.pointee = sc_bytes(bytes: block.bytes(bytes), count: bytes.count)
        return Answer.ok
    }
}

@c @implementation public func sc_reply(
    _ request: UInt64, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ sent: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(request, as: ReceivedObject.self)
        let envelope = Envelope(
            codec: object.codec, schema: Content.schema, content: .message(try CLibrary.bytes(bytes, count, "bytes")))
        return try finish(request, sent) { () async throws(SharedCoreError) in
            try await object.request.answer(envelope)
        }
    }
}

@c @implementation public func sc_refuse(
    _ request: UInt64, _ reason: UnsafePointer<CChar>?, _ sent: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(request, as: ReceivedObject.self)
        let reason = try optionalText(reason, "reason") ?? ""
        return try finish(request, sent) { () async throws(SharedCoreError) in
            try await object.request.refuse(because: reason)
        }
    }
}

@c @implementation public func sc_received_give_back(
    _ request: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(request, as: ReceivedObject.self)
        try wait { () async throws(SharedCoreError) in try await object.request.giveBack() }
        _ = Handles.remove(request)
        return Answer.ok
    }
}

private func finish(
    _ request: UInt64, _ sent: UnsafeMutablePointer<Int32>?,
    _ body: @escaping @Sendable () async throws(SharedCoreError) -> Acknowledgement
) throws(Failure) -> Int32 {
    let answer = try wait(for: body)
    _ = Handles.remove(request)
    if case .superseded = answer { sent?.pointee = 0 } else { sent?.pointee = 1 }
    return Answer.ok
}
