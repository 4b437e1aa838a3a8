/// Equality, order and hash of strings by their bytes. `String` itself compares by canonical equivalence, under which
/// two different keys could be one.
package enum UTF8Bytes {
    package static func equal(_ left: String, _ right: String) -> Bool {
        let fast = left.utf8.withContiguousStorageIfAvailable { leftBytes in
            right.utf8.withContiguousStorageIfAvailable { rightBytes in
                equal(UnsafeRawBufferPointer(leftBytes), UnsafeRawBufferPointer(rightBytes))
            }
        }
        if let result = fast ?? nil { return result }
        return left.utf8.elementsEqual(right.utf8)
    }

    /// Compares eight bytes at a time, because every read of a store compares keys.
    private static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var offset = 0
        while offset + 8 <= left.count {
            guard
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }

    static func precedes(_ left: String, _ right: String) -> Bool {
        let fast = left.utf8.withContiguousStorageIfAvailable { leftBytes in
            right.utf8.withContiguousStorageIfAvailable { rightBytes in
                precedes(UnsafeRawBufferPointer(leftBytes), UnsafeRawBufferPointer(rightBytes))
            }
        }
        if let result = fast ?? nil { return result }
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// Compares eight bytes at a time, with the first byte as the most significant. A process sorts all keys for its
    /// first list, and most keys begin with the same long path.
    private static func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let count = min(left.count, right.count)
        var offset = 0
        while offset + 8 <= count {
            let leftWord = UInt64(bigEndian: left.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let rightWord = UInt64(bigEndian: right.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if leftWord != rightWord { return leftWord < rightWord }
            offset += 8
        }
        while offset < count {
            if left[offset] != right[offset] { return left[offset] < right[offset] }
            offset += 1
        }
        return left.count < right.count
    }

    static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
        let fast = text.utf8.withContiguousStorageIfAvailable { bytes in
            prefix.utf8.withContiguousStorageIfAvailable { prefixBytes in
                bytes.count >= prefixBytes.count
                    && equal(
                        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<prefixBytes.count]),
                        UnsafeRawBufferPointer(prefixBytes))
            }
        }
        if let result = fast ?? nil { return result }
        return text.utf8.starts(with: prefix.utf8)
    }

    /// Returns true if a text contains a control character (C0, DEL or C1), which a terminal or a line-based program
    /// would interpret.
    package static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Returns the name of the first control character of a text, such as `U+000A`; nil if it has none.
    package static func firstControl(in text: some StringProtocol) -> String? {
        text.unicodeScalars.first { $0.properties.generalCategory == .control }.map { name(of: $0) }
    }

    /// Returns a character for messages: a printable one of ASCII in quotes, another by its code point, such as
    /// `U+00FC`.
    package static func name(of scalar: Unicode.Scalar) -> String {
        if (0x21..<0x7f).contains(scalar.value) { return "“\(scalar)”" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    package static func hash(_ text: String, into hasher: inout Hasher) {
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if done == nil { for byte in text.utf8 { hasher.combine(byte) } }
        hasher.combine(text.utf8.count)
    }
}

extension String {
    /// Returns the longest beginning of the text, in whole characters, that has at most `limit` bytes of UTF-8.
    package func cut(toByteCount limit: Int) -> String {
        guard utf8.count > limit else { return self }
        // Searches from the front: a text from outside may be far longer than the part that is kept. From the end, each
        // step would search back for the beginning of a character, which is far away in a long row of flag emojis.
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            if utf8.distance(from: startIndex, to: next) > limit { break }
            end = next
        }
        return String(self[..<end])
    }
}
