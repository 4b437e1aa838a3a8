/// The sizes up to which a message is read.
struct MailLimits: Hashable, Sendable {
    /// The largest file that is searched for parts. Only the text that is shown is in memory, so this bounds time.
    var messageByteCount = 32 << 20
    /// The part of a header's field that is read: its addresses and parameters cost GMime up to 135 bytes for each.
    var fieldByteCount = 8 << 10
    /// The longest identifier. A line of a message has at most 998 bytes (RFC 5322, 2.1.1), and an identifier no folds.
    var identifierByteCount = 998
    /// The largest text, in bytes of UTF-8.
    var textByteCount = 1 << 20
    /// How deep parts may be nested. Postfix has the same limit by default.
    var nesting = 100
    /// The number of parts that are passed over until the one that is shown.
    var partCount = 10_000

    /// The number of bytes that a text may have before its line ends are one byte each.
    var decodedByteCount: Int { textByteCount * 2 }

    /// The part of the memory of a process that a text may have.
    static let textPart = 24
    /// The same where the process has all values of the group in its memory as well.
    static let residentTextPart = 32

    init() {}

    /// - Parameters:
    ///   - memory: The number of bytes of memory that the process of the core may have for itself; nil for no limit.
    ///   - valueByteCount: The largest value that the group takes.
    ///   - isResident: Whether the process has all values of the group in its memory.
    init(memory: UInt64?, valueByteCount: Int, isResident: Bool = false) {
        textByteCount = valueByteCount
        guard let memory else { return }
        // Measured: a text of one MiB that is all control characters takes 15 MiB until it is printed as JSON, and the
        // fields of a message's headers 2 MiB at most with 8 KiB each.
        let byteCount = Int(clamping: memory)
        textByteCount = min(valueByteCount, byteCount / (isResident ? Self.residentTextPart : Self.textPart))
        fieldByteCount = min(max(byteCount / 3_072, 1 << 10), 64 << 10)
    }
}
