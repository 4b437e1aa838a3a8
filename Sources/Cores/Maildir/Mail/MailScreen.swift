internal import Glibc

/// Counts, before a message is parsed, what parsing it would cost.
///
/// GMime makes an object of every header, address and part, compares each line that could end a part with all parts that
/// are open, and reads groups of addresses (`a:b:c:`) by recursion, so a few kilobytes in one header could use up a
/// thread's stack. It parses messages within messages in the same way. The screen therefore counts lines of the whole
/// file, whatever they are in: some that it counts mean nothing to GMime, but none that GMime reads escapes it.
struct MailScreen: Sendable {
    /// How much of each a message may have: far more than mail has, and little enough to be read in a second.
    struct Limits: Hashable, Sendable {
        /// Colons in one header of addresses: GMime takes 208 bytes of stack for each.
        var nestedGroups = 400
        /// Commas and semicolons in all headers of addresses.
        var addresses = 20_000
        /// Lines that begin as headers do.
        var headers = 200_000
        /// Lines that begin as boundaries of parts do.
        var boundaries = 50_000
    }

    private let limits: Limits
    private var colons = 0
    private var separators = 0
    private var headers = 0
    private var boundaries = 0
    /// Whether the present line, with the folds that follow, belongs to a header of addresses.
    private var isInAddresses = false

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether everything so far is within the limits.
    var isPassed: Bool {
        colons <= limits.nestedGroups && separators <= limits.addresses && headers <= limits.headers
            && boundaries <= limits.boundaries
    }

    /// Counts lines.
    ///
    /// - Parameters:
    ///   - bytes: Bytes that begin where a line does, unless `isInsideLine`.
    ///   - isInsideLine: Whether the first of them continue a line whose beginning was counted before.
    mutating func count(_ bytes: UnsafeRawBufferPointer, isInsideLine: Bool) {
        var rest = bytes[...]
        var isInsideLine = isInsideLine
        while !rest.isEmpty, isPassed {
            let line = UnsafeRawBufferPointer(rebasing: rest)
            let end = Self.firstIndex(of: UInt8(ascii: "\n"), in: line) ?? line.count - 1
            count(line: UnsafeRawBufferPointer(rebasing: line[...end]), isInside: isInsideLine)
            isInsideLine = false
            rest = rest.dropFirst(end + 1)
        }
    }

    private mutating func count(line: UnsafeRawBufferPointer, isInside: Bool) {
        let isFold = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
        if !isInside, !isFold { begin(line) }
        guard isInAddresses else { return }
        for byte in line {
            switch byte {
            case UInt8(ascii: ":"): colons += 1
            case UInt8(ascii: ","), UInt8(ascii: ";"): separators += 1
            default: break
            }
        }
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) {
        isInAddresses = false
        if line.starts(with: "--".utf8) {
            boundaries += 1
            return
        }
        guard let colon = Self.firstIndex(of: UInt8(ascii: ":"), in: line) else { return }
        // The library's names end at a zero, as all texts of C do.
        let name = line[..<colon].prefix { $0 != 0 }
        let trimmed = name.prefix { !MailText.isSpace($0) }
        guard name.dropFirst(trimmed.count).allSatisfy(MailText.isSpace) else { return }
        headers += 1
        guard Self.isOfAddresses(trimmed) else { return }
        isInAddresses = true
        colons = 0
    }

    /// Whether a header's name ends like the name of one with addresses: the ends of the names are enough, whatever a
    /// broken message has before them.
    private static func isOfAddresses(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
        let lowercased = String(decoding: name.suffix(8), as: UTF8.self).lowercased()
        return ["from", "sender", "to", "cc"].contains { lowercased.hasSuffix($0) }
    }

    private static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else { return nil }
        return found - UnsafeMutableRawPointer(mutating: base)
    }
}
