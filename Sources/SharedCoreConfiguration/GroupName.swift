/// The rule for the names of groups: one plain part of a path, so that no name leaves the directory of groups.
package enum GroupName {
    package static let maximumByteCount = 64

    package static func isValid(_ name: String) -> Bool {
        guard (1...maximumByteCount).contains(name.utf8.count), let first = name.utf8.first else { return false }
        return isAlphanumeric(first) && name.utf8.allSatisfy { isAlphanumeric($0) || punctuation.contains($0) }
    }

    private static let punctuation = Array("._-".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
