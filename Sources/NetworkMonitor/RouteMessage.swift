/// One message of the kernel, as far as it is of interest here.
///
/// Source: netlink(7), rtnetlink(7); the numbers are those of linux/netlink.h and linux/rtnetlink.h.
package struct RouteMessage: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Existing or changed objects; empty if the message is about others.
        case changes([NetworkChange])
        /// The end of the answer to a request.
        case ended
        /// The kernel refuses the request, with this error number.
        case refused(Int32)
        /// The kernel reports that messages were lost.
        case lost
    }

    package var content: Content
    /// The number of the request that this answers; nil for a report.
    package var answers: UInt32?
    /// True if something changed in the middle of the answer, so that it may be incomplete.
    package var isInterrupted: Bool

    package init(_ content: Content, answers: UInt32? = nil, isInterrupted: Bool = false) {
        self.content = content
        self.answers = answers
        self.isInterrupted = isInterrupted
    }
}

extension RouteMessage {
    /// Reads the messages of a datagram. An incomplete message ends them, and messages of no interest are left out.
    package static func read(_ datagram: [UInt8]) -> [RouteMessage] {
        var messages: [RouteMessage] = []
        var rest = KernelBytes(datagram[...])
        while let length: UInt32 = rest.number(at: 0), length >= headerLength,
            let body = rest.part(from: headerLength, count: Int(length) - headerLength)
        {
            if let message = read(rest, body) { messages.append(message) }
            rest = rest.rest(from: KernelBytes.aligned(Int(length)))
        }
        return messages
    }

    private static let headerLength = 16

    private static func read(_ header: KernelBytes, _ body: KernelBytes) -> RouteMessage? {
        guard let type: UInt16 = header.number(at: 4), let flags: UInt16 = header.number(at: 6),
            let sequence: UInt32 = header.number(at: 8), let content = content(type, flags, body)
        else { return nil }
        // A report of a change that another process requested has the number of that request. Only an answer has the
        // flag of a multipart message, or the type of an error.
        let isAnswer = flags & 0x2 != 0 || type == 2
        return RouteMessage(content, answers: isAnswer ? sequence : nil, isInterrupted: flags & 0x10 != 0)
    }

    private static func content(_ type: UInt16, _ flags: UInt16, _ body: KernelBytes) -> Content? {
        switch type {
        // NLMSG_ERROR (0 means success), NLMSG_DONE (the same) and NLMSG_OVERRUN
        case 2: return failure(body).map { .refused($0) }
        case 3: return failure(body).map { .refused($0) } ?? .ended
        case 4: return .lost
        // RTM_NEWLINK, RTM_DELLINK
        case 16: return .changes(NetworkChange.link(body).map { [.link($0)] } ?? [])
        case 17: return .changes(NetworkChange.link(body).map { [.linkGone($0.index)] } ?? [])
        // RTM_NEWADDR, RTM_DELADDR
        case 20: return .changes(NetworkChange.address(body).map { [.address($0)] } ?? [])
        case 21: return .changes(NetworkChange.address(body).map { [.addressGone($0)] } ?? [])
        // RTM_NEWROUTE, where NLM_F_REPLACE means that another route was removed; RTM_DELROUTE
        case 24:
            let routes = NetworkChange.defaultRoutes(body)
            let isReplacing = flags & 0x100 != 0 && flags & 0x2 == 0 && !routes.isEmpty
            return .changes(isReplacing ? [.routesReplaced(routes)] : routes.map { .route($0) })
        case 25: return .changes(NetworkChange.defaultRoutes(body).map { .routeGone($0) })
        default: return nil
        }
    }

    /// Returns the error number, if there is one: the message contains it negated.
    private static func failure(_ body: KernelBytes) -> Int32? {
        guard let negated: Int32 = body.number(at: 0), negated.signum() == -1 else { return nil }
        return Int32(clamping: negated.magnitude)
    }
}

/// Bytes as the kernel writes them, in the order of the machine. A value that does not fit is nil, never a trap.
struct KernelBytes {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }
    var content: ArraySlice<UInt8> { bytes }

    /// Returns a number at a non-negative offset.
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self, at offset: Int) -> Number? {
        guard let part = part(from: offset, count: MemoryLayout<Number>.size) else { return nil }
        var number: Number = 0
        withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: part.bytes) }
        return number
    }

    /// Bytes from an offset on; neither is negative.
    func part(from offset: Int, count: Int) -> KernelBytes? {
        guard offset <= bytes.count, count <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return KernelBytes(bytes[start..<(start + count)])
    }

    /// Returns all bytes from an offset on; none if it is beyond the end.
    func rest(from offset: Int) -> KernelBytes {
        KernelBytes(bytes.dropFirst(offset))
    }

    /// Text up to the first zero.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// Returns the offset of the next element after one of a length. The kernel begins each element at a multiple of
    /// four.
    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension KernelBytes {
    /// The attributes of a message by their type. The first of each type counts; an attribute that exceeds the message
    /// ends the list.
    var attributes: [UInt16: KernelBytes] {
        var attributes: [UInt16: KernelBytes] = [:]
        var rest = self
        while let length: UInt16 = rest.number(at: 0), let kind: UInt16 = rest.number(at: 2), length >= 4,
            let content = rest.part(from: 4, count: Int(length) - 4)
        {
            // The two highest bits are flags about the content, not part of the type.
            let kind = kind & 0x3fff
            if attributes[kind] == nil { attributes[kind] = content }
            rest = rest.rest(from: Self.aligned(Int(length)))
        }
        return attributes
    }
}
