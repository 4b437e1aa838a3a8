internal import Coordination
internal import Platform

/// The header fields of a message or a part that decide the delivered content, as they are in the file.
///
/// Only these are passed to GMime, each once, cut, and ``checked``. GMime makes an object of 290 to 530 bytes for each
/// header, parameter and address, which may have as few as three bytes: 796 KB of headers took 95 MiB. It reads groups of
/// addresses (`a:b:c:`) by recursion.
struct MailHead {
    /// The fields, as a header of RFC 5322 without its end.
    private(set) var bytes: [UInt8] = []
    /// The ranges in `bytes` of the values of the fields, by their names in lower case.
    private var values: [String: Range<Int>] = [:]
    /// True if the first line cannot begin a message.
    private(set) var isForeign = false

    private var isEmpty = true
    /// The name of the current field; nil if its lines are not kept.
    private var name: String?

    /// The fields of a part that are kept.
    static let ofParts: Set<String> = ["content-type", "content-transfer-encoding", "content-disposition"]
    /// The fields of a message that are kept.
    static let ofMessages = ofParts.union([
        "call-id", "message-id", "from", "to", "date", "subject", "x-sharedcore-kind", "x-sharedcore-conference",
    ])

    /// Reads a line of the headers.
    ///
    /// - Parameters:
    ///   - names: The fields to keep: the first one of each name.
    ///   - limit: The number of bytes of a field that are kept.
    mutating func add(_ line: UnsafeRawBufferPointer, keeping names: Set<String>, upTo limit: Int) {
        let isFold = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
        if !isFold {
            name = nil
            guard let colon = Self.nameEnd(of: line) else {
                // An mbox line may precede the headers.
                isForeign =
                    isForeign || (isEmpty && !line.starts(with: "From ".utf8) && !line.starts(with: ">From ".utf8))
                return
            }
            isEmpty = false
            guard colon <= Self.longestName else { return }
            let found = String(decoding: line[..<colon].prefix { !MailText.isSpace($0) }, as: UTF8.self).lowercased()
            guard names.contains(found), values[found] == nil else { return }
            name = found
            bytes += Array((found + ":").utf8)
            values[found] = bytes.count..<bytes.count
            keep(line[(colon + 1)...], of: found, upTo: limit)
        } else if let name {
            keep(line[...], of: name, upTo: limit)
        }
    }

    private mutating func keep(_ line: Slice<UnsafeRawBufferPointer>, of name: String, upTo limit: Int) {
        guard let value = values[name] else { return }
        let kept = line.prefix(max(0, limit - value.count))
        guard !kept.isEmpty || value.isEmpty else { return }
        bytes += kept
        bytes.append(UInt8(ascii: "\n"))
        values[name] = value.lowerBound..<bytes.count
    }

    private static let longestName = 64

    /// Returns the offset of the colon after a field's name; nil if the line does not begin with a field's name.
    ///
    /// A name has neither spaces nor control characters; spaces may stand between it and the colon (RFC 5322, 4.5).
    private static func nameEnd(of line: UnsafeRawBufferPointer) -> Int? {
        var isOver = false
        for (index, byte) in line.enumerated() {
            switch byte {
            case UInt8(ascii: ":"): return index > 0 ? index : nil
            case UInt8(ascii: " "), UInt8(ascii: "\t"): isOver = true
            case 0..<0x20, 0x7F: return nil
            default: if isOver { return nil }
            }
        }
        return nil
    }

    /// Returns the value of a field as it is in the file, including folds.
    func value(_ name: String) -> ArraySlice<UInt8>? {
        values[name].map { bytes[$0] }
    }

    /// The fields as GMime may decode them: those of a content without their parameters, which ``ContentParameters``
    /// reads, and the others with their ``EncodedWords`` checked.
    var checked: [UInt8] {
        var checked: [UInt8] = []
        var words = EncodedWords()
        for (name, range) in values.sorted(by: { $0.value.lowerBound < $1.value.lowerBound }) {
            checked += Array((name + ":").utf8)
            if Self.ofParts.contains(name) {
                var none = EncodedWords(convertedCount: 0)
                checked += none.checked(bytes[range].prefix { $0 != UInt8(ascii: ";") })
                while let last = checked.last, MailText.isSpace(last) { checked.removeLast() }
                checked.append(UInt8(ascii: "\n"))
            } else {
                checked += words.checked(bytes[range])
            }
        }
        return checked
    }

    /// The parameters of the content.
    var parameters: ContentParameters { ContentParameters(value("content-type") ?? []) }

    /// The identifier of the message: its Call-ID, else its Message-ID.
    var identifier: CallID? {
        value("call-id").flatMap { MailIdentifier.callID(Array($0)) }
            ?? value("message-id").flatMap { MailIdentifier.messageID(Array($0)) }
    }

    /// Colons in one field of addresses: GMime takes 208 bytes of stack for each.
    private static let groupCount = 400

    /// True if the addresses can be read without using up a thread's stack.
    var isReadable: Bool {
        ["from", "to"].allSatisfy { name in
            (value(name) ?? []).count { $0 == UInt8(ascii: ":") } <= Self.groupCount
        }
    }

    /// True if the fields alone prove that the identifier belongs to the message, and not to a conference inside it.
    var isPlain: Bool {
        guard value("x-sharedcore-kind") == nil, let type = value("content-type") else {
            return value("x-sharedcore-kind") == nil
        }
        return type.map(\.lowercasedASCII).firstRange(ofText: "conference-info") == nil
    }
}
