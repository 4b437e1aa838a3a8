/// Operations on the bytes of a text from outside, in one pass each.
///
/// Those of `String` on characters are not: a character has any number of bytes, and to find where one begins among flags,
/// each two letters of U+1F1E6 to U+1F1FF, takes a walk to the first of them (128 KiB took minutes).
extension RandomAccessCollection<UInt8> where Index == Int {
    /// The first place at which a short text stands.
    func firstRange(ofText text: StaticString, from start: Int? = nil) -> Range<Int>? {
        text.withUTF8Buffer { text in
            var place = start ?? startIndex
            while place <= endIndex - text.count {
                if text.indices.allSatisfy({ self[place + $0] == text[$0] }) { return place..<(place + text.count) }
                place += 1
            }
            return nil
        }
    }
}

extension UInt8 {
    /// The byte, a capital letter of ASCII as its small one.
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
