/// The sizes up to which a message is read.
struct MailLimits: Hashable, Sendable {
    /// The largest file whose parts are looked at. Attachments stay on the disk, so this bounds time, not memory.
    var messageByteCount = 32 << 20
    /// How much of the headers is read in search of the identifier of a file that is not read as a whole.
    var headerByteCount = 256 << 10
    /// The longest identifier. A line of a message has at most 998 bytes (RFC 5322, 2.1.1), and an identifier no folds.
    var identifierByteCount = 998
    /// The largest text, in bytes of UTF-8.
    var textByteCount = 1 << 20
    /// How deep parts may be nested. Postfix has the same limit by default.
    var nesting = 100

    /// The largest content that is decoded. No encoding in use takes more than this for a text of the allowed size:
    /// quoted-printable takes three bytes for each, UTF-32 four for each character of one, and both the product.
    var encodedTextByteCount: Int { textByteCount * 12 }
}
