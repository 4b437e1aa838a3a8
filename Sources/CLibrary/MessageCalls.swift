// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform

/// The arrays of messages in a block, and of the fields of all of them. They come before all texts, for their alignment.
struct MessagePlace {
    let messages: UnsafeMutablePointer<sc_message>
    let fields: UnsafeMutablePointer<sc_field>

    init(in block: inout Block, for all: [InboxMessage]) {
        messages = block.array(of: sc_message.self, count: all.count)
        fields = block.array(of: sc_field.self, count: all.reduce(0) { $0 + $1.content.fields.count })
    }

    /// Returns the bytes of a message in a block: its structure, its fields, its texts and its body.
    static func byteCount(of message: InboxMessage) -> Int {
        let content = message.content
        let optional = [message.id.sequence, content.account, content.conversation, content.contentType]
        let texts =
            [message.callID.text, content.kind.name, content.sender, content.recipient, content.text]
            + optional.compactMap(\.self) + content.fields.flatMap { [$0.key, $0.value] }
        return texts.reduce(MemoryLayout<sc_message>.stride + content.body.count) { $0 + $1.utf8.count + 1 }
            + content.fields.count * MemoryLayout<sc_field>.stride
    }
}

extension Block {
    /// Places the texts of a message, and returns the structure that points to them.
    ///
    /// - Parameter fields: The place of its fields.
    mutating func message(_ message: InboxMessage, fields: UnsafeMutablePointer<sc_field>) -> sc_message {
        let content = message.content
        var result = sc_message()
        result.size = MemoryLayout<sc_message>.size
        result.call_id = text(message.callID.text)
        result.sequence = message.id.sequence.map { text($0) }
        result.kind = text(content.kind.name)
        result.sender = text(content.sender)
        result.recipient = text(content.recipient)
        result.text = text(content.text)
        result.body = bytes(content.body)
        result.body_count = content.body.count
        result.account = content.account.map { text($0) }
        result.conversation = content.conversation.map { text($0) }
        result.content_type = content.contentType.map { text($0) }
        result.time = content.time?.milliseconds ?? noTime
        let sorted = content.fields.sorted { $0.key < $1.key }
        for (index, field) in sorted.enumerated() {
            fields[index] = sc_field(name: text(field.key), value: text(field.value))
        }
        result.fields = UnsafePointer(fields)
        result.field_count = sorted.count
        return result
    }
}

/// `SC_NO_TIME`, a macro that Swift does not import.
private let noTime = Int64.min

extension Duration {
    /// The whole milliseconds of a positive or negative duration, limited to the range of 64 bits.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return overflow || isBeyond ? (seconds < 0 ? .min + 1 : .max) : sum
    }
}

/// Reads a call-id.
///
/// - Throws: `invalidArgument` for an empty one.
func callID(_ text: UnsafePointer<CChar>?) throws(Failure) -> CallID {
    guard let id = CallID(try CLibrary.text(text, "call_id")) else {
        throw Failure(.invalidArgument, "A call-id is not empty.", at: "call_id")
    }
    return id
}

/// Reads the identity of a message.
///
/// - Throws: `invalidArgument` for an empty call-id, and for a sequence that breaks its rule.
func messageID(_ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?) throws(Failure) -> MessageID {
    let callID = try callID(id)
    guard let sequence = try optionalText(sequence, "sequence") else { return MessageID(callID) }
    guard let id = MessageID(callID, sequence: sequence) else {
        throw Failure(
            .invalidArgument, "A sequence has 1 to 64 of A-Z, a-z, 0-9, “-”, “.” and “_”.", at: "sequence")
    }
    return id
}

/// Reads a message.
///
/// - Throws: `invalidArgument` for NULL, for a size that is not this version's, and for a value that cannot be read. The inbox
///   checks the bounds of contract C20.
private func read(_ message: UnsafePointer<sc_message>?) throws(Failure) -> InboxMessage {
    let given = try sized(message, "message", "SC_MESSAGE_INIT")
    func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String {
        try optionalText(pointer, name, limit: Bound.bytes) ?? ""
    }
    let kindName = try optionalText(given.kind, "kind") ?? "text"
    guard let kind = InboxMessage.Kind(kindName) else {
        throw Failure(.invalidArgument, "“\(kindName)” is no kind of message.", at: "kind")
    }
    var content = InboxMessage.Content(
        kind: kind, sender: try text(given.sender, "sender"), recipient: try text(given.recipient, "recipient"),
        text: try text(given.text, "text"), contentType: try optionalText(given.content_type, "content_type"),
        body: try bytes(given.body, given.body_count, "body"), account: try optionalText(given.account, "account"),
        conversation: try optionalText(given.conversation, "conversation"))
    if given.time != noTime { content.time = .milliseconds(given.time) }
    for field in try elements(given.fields, given.field_count, "fields") {
        let name = try CLibrary.text(field.name, "fields")
        let value = try CLibrary.text(field.value, "fields")
        guard content.fields.updateValue(value, forKey: name) == nil else {
            throw Failure(.invalidArgument, "The message has the field “\(name)” twice.", at: "fields")
        }
    }
    return InboxMessage(id: try messageID(given.call_id, given.sequence), content: content)
}

extension MessageChange {
    fileprivate var number: Int32 {
        switch self {
        case .changed: Int32(SC_UPDATE_CHANGED)
        case .changedInHand: Int32(SC_UPDATE_CHANGED_IN_HAND)
        case .over: Int32(SC_UPDATE_OVER)
        case .absent: Int32(SC_UPDATE_ABSENT)
        }
    }
}

// MARK: - For the core

@c @implementation public func sc_core_deliver(
    _ core: UInt64, _ message: UnsafePointer<sc_message>?, _ duplicate: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let received = try read(message)
        let result = try wait { () async throws(SharedCoreError) in try await context.deliver(received) }
        duplicate?.pointee = result == .duplicate ? 1 : 0
        return Answer.ok
    }
}

@c @implementation public func sc_core_update(
    _ core: UInt64, _ message: UnsafePointer<sc_message>?, _ change: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let changed = try read(message)
        let result = try wait { () async throws(SharedCoreError) in try await context.update(changed) }
        change?.pointee = result.number
        return Answer.ok
    }
}

@c @implementation public func sc_core_withdraw(
    _ core: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?,
    _ change: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let id = try messageID(id, sequence)
        let result = try wait { () async throws(SharedCoreError) in try await context.withdraw(id) }
        change?.pointee = result.number
        return Answer.ok
    }
}

// MARK: - For every process

private func inbox(_ group: UInt64) throws(Failure) -> Inbox {
    let store = try Handles.find(group, as: GroupObject.self).store
    return try CLibrary.store { () throws(SharedCoreError) in try Inbox(store) }
}

@c @implementation public func sc_inbox(
    _ group: UInt64, _ after: UInt64, _ limit: Int, _ page: UnsafeMutablePointer<UnsafePointer<sc_inbox_page>?>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(page, "page")
        result.pointee = nil
        let inbox = try inbox(group)
        let limit = try pageLimit(limit)
        let page = try wait { () async throws(SharedCoreError) in
            try await inbox.messages(after: Revision(rawValue: after), limit: limit)
        }
        result.pointee = page.placed()
        return Answer.ok
    }
}

extension InboxPage {
    /// Returns the page as the C header's `sc_inbox_page`, in one block of memory that also holds all of its messages.
    fileprivate func placed() -> UnsafePointer<sc_inbox_page> {
        let stride = MemoryLayout<sc_listed_message>.stride + MemoryLayout<UnsafePointer<sc_listed_message>?>.stride
        var block = Block(
            size: messages.reduce(MemoryLayout<sc_inbox_page>.stride) {
                $0 + stride + MessagePlace.byteCount(of: $1.message)
            })
        let page = block.array(of: sc_inbox_page.self, count: 1)
        let (listed, pointers) = block.pointed(sc_listed_message.self, count: messages.count)
        let place = MessagePlace(in: &block, for: messages.map(\.message))
        var fields = place.fields
        for (index, each) in messages.enumerated() {
            place.messages[index] = block.message(each.message, fields: fields)
            fields += each.message.content.fields.count
            listed[index] = sc_listed_message(
                size: MemoryLayout<sc_listed_message>.size, message: place.messages + index,
                stored_at: each.storedAt.rawValue, taken_by: each.takenBy?.rawValue ?? 0,
                state: Int32(each.takenBy == nil ? SC_MESSAGE_STORED : SC_MESSAGE_TAKEN), reserved: 0)
        }
        page.pointee = sc_inbox_page(
            size: MemoryLayout<sc_inbox_page>.size, count: messages.count, messages: pointers,
            next: next?.rawValue ?? 0)
        return UnsafePointer(page)
    }
}

@c @implementation public func sc_inbox_page_free(_ page: UnsafeMutablePointer<UnsafePointer<sc_inbox_page>?>?) {
    guard !ForkedChild.isCurrent else { return }
    Block.free(at: page)
}

@c @implementation public func sc_inbox_state(
    _ group: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?,
    _ state: UnsafeMutablePointer<Int32>?, _ takenBy: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(state, "state")
        result.pointee = Int32(SC_MESSAGE_ABSENT)
        takenBy?.pointee = 0
        let inbox = try inbox(group)
        let id = try messageID(id, sequence)
        switch try wait(for: { () async throws(SharedCoreError) in try await inbox.state(of: id) }) {
        case .absent: result.pointee = Int32(SC_MESSAGE_ABSENT)
        case .stored: result.pointee = Int32(SC_MESSAGE_STORED)
        case .taken(let session):
            result.pointee = Int32(SC_MESSAGE_TAKEN)
            takenBy?.pointee = session.rawValue
        case .acknowledged: result.pointee = Int32(SC_MESSAGE_ACKNOWLEDGED)
        case .nothingToShow: result.pointee = Int32(SC_MESSAGE_NOTHING)
        }
        return Answer.ok
    }
}
