/// Paths as the kernel reads them: bytes, with the byte `/` between their parts.
///
/// A `Character` may be more than its first scalar: a combining mark after a slash belongs to the same character, and
/// so does a prepended mark before one. Comparing characters, `split` and `hasPrefix` do not find such a slash, but the
/// kernel does.
extension StringProtocol {
    /// True if the text begins with a slash.
    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

    /// The parts between the slashes; none is empty.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns true if the bytes of this text begin with those of another. Equivalent spellings of a character are
    /// different bytes.
    package func startsWithBytes(of text: String) -> Bool { utf8.starts(with: text.utf8) }
}
