/// Cuts the bytes of a connection into messages.
public struct MessageReader: Sendable {
    /// The error for bytes that are no message, or longer than any that is expected.
    public struct Garbage: Error {}

    private static let limit = 64 << 10
    private var bytes: [UInt8] = []

    public init() {}

    /// Takes received bytes, and returns the messages that they complete.
    public mutating func read(_ received: some Sequence<UInt8>) throws(Garbage) -> [Message] {
        bytes += received
        var messages: [Message] = []
        while let message = try next() { messages.append(message) }
        return messages
    }

    private mutating func next() throws(Garbage) -> Message? {
        guard let end = endOfHeaders else {
            if bytes.count > Self.limit { throw Garbage() }
            return nil
        }
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        guard !lines.isEmpty else { throw Garbage() }
        var message = Message(String(lines.removeFirst()))
        var length = 0
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw Garbage() }
            let name = String(line[..<colon])
            let value = line[line.index(after: colon)...].trimmingPrefix { $0 == " " }
            if name.lowercased() == "content-length" {
                guard let number = Int(value), (0...Self.limit).contains(number) else { throw Garbage() }
                length = number
            } else {
                message.headers.append(Message.Header(name: name, value: String(value)))
            }
        }
        guard bytes.count - end - 4 >= length else { return nil }
        message.body = String(decoding: bytes[(end + 4)..<(end + 4 + length)], as: UTF8.self)
        bytes.removeFirst(end + 4 + length)
        return message
    }

    /// The index at which the empty line begins.
    private var endOfHeaders: Int? {
        guard bytes.count >= 4 else { return nil }
        let mark = Array("\r\n\r\n".utf8)
        return (0...(bytes.count - 4)).first { bytes[$0] == mark[0] && Array(bytes[$0..<($0 + 4)]) == mark }
    }
}
