/// The sizes up to which a message is read.
struct MailLimits: Hashable, Sendable {
    /// The largest file that is searched for parts. Only the text that is shown is in memory, so this bounds time.
    var messageByteCount = 32 << 20
    /// The maximum number of bytes that are read of a header field: each byte of addresses and parameters takes GMime
    /// up to 135 bytes.
    var fieldByteCount = 8 << 10
    /// The longest identifier. A line of a message has at most 998 bytes (RFC 5322, 2.1.1), and an identifier no folds.
    var identifierByteCount = 998
    /// The largest text, in bytes of UTF-8.
    var textByteCount = 1 << 20
    /// How deep parts may be nested. Postfix has the same limit by default.
    var nesting = 100
    /// The maximum number of parts before the one that is shown.
    var partCount = 10_000

    /// The maximum number of bytes of a text before its line ends are converted to one byte each.
    var decodedByteCount: Int { textByteCount * 2 }

    /// The largest text has at most this fraction of the process's memory limit: one 24th.
    static let textPart = 24
    /// The fraction if the process also has all values of the group in its memory: one 32nd.
    static let residentTextPart = 32

    init() {}

    /// Computes the limits from the memory of the core's process.
    ///
    /// - Parameters:
    ///   - memory: The limit of private memory of the core's process, in bytes; nil for no limit.
    ///   - valueByteCount: The maximum size of a value in the group.
    ///   - isResident: True if the process has all values of the group in its memory.
    init(memory: UInt64?, valueByteCount: Int, isResident: Bool = false) {
        textByteCount = valueByteCount
        guard let memory else { return }
        // Measured: a text of one MiB of control characters takes 15 MiB until it is printed as JSON. The fields of a
        // message's headers take 2 MiB at most with 8 KiB each.
        let byteCount = Int(clamping: memory)
        textByteCount = min(valueByteCount, byteCount / (isResident ? Self.residentTextPart : Self.textPart))
        fieldByteCount = min(max(byteCount / 3_072, 1 << 10), 64 << 10)
    }
}
