/// A file's name in the file system: bytes that need not be text.
struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest name in Linux.
    static let maximumByteCount = 255

    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isHidden: Bool { bytes.first == UInt8(ascii: ".") }

    /// Each byte as a character, for any bytes.
    var scalars: String { String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) }

    var description: String { MailText.line(String(decoding: bytes, as: UTF8.self)) }

    /// The name without the information that Maildir adds after it, such as `:2,S`.
    var withoutInformation: FileName {
        let marker = Array(":2,".utf8)
        guard let start = bytes.firstRange(of: marker)?.lowerBound else { return self }
        return FileName(Array(bytes[..<start]))
    }

    /// Returns the name followed by a number, if it is not the first attempt, and a suffix. The name is cut in its
    /// middle if it would be too long.
    func adding(_ suffix: String, attempt: Int) -> FileName {
        let end = Array((attempt == 0 ? "" : "_\(attempt)").utf8) + Array(suffix.utf8)
        return FileName(Array(bytes.prefix(Self.maximumByteCount - end.count)) + end)
    }

    func withCString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        (bytes + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                guard let base = buffer.baseAddress else { preconditionFailure("The terminating zero is there.") }
                return body(base)
            }
        }
    }

    static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
