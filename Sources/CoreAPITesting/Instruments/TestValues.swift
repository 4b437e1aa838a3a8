internal import CoreAPI

/// Numbers as values of a store.
enum Number {
    static func bytes(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    /// Returns the number of at most eight bytes.
    static func value(_ bytes: [UInt8]) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Transactions of all kinds over a few keys.
enum RandomTransaction {
    private static let keys: [Key] = ["a/1", "a/2", "a/3", "b/1", "b/1/x", "b/10", "c", "d"]
    private static let prefixes: [KeyPrefix] = ["a", "b/1", "c", "b/1/"]

    static func next(using random: inout SeededRandom) -> Transaction {
        var transaction = Transaction()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: transaction.delete(key)
            case 2: transaction.deleteAll(under: prefixes[Int.random(in: 0..<prefixes.count, using: &random)])
            case 3: transaction.put(key, random.bytes(Int.random(in: 0...40, using: &random)), lifetime: .session)
            case 4: transaction.post("news", state: random.next())
            default: transaction.put(key, random.bytes(Int.random(in: 0...40, using: &random)))
            }
        }
        return transaction
    }
}

/// Keys that other stores treat specially. In this store they have no meaning beyond their bytes.
enum HostileKeys {
    static let all: [String] =
        paths + escapes + controls + letters + [String(repeating: "k", count: 512), String(repeating: "😀", count: 128)]

    private static let paths = [
        "/", "//", "///", ".", "..", "../", "../../etc/passwd", "/etc/passwd", "a", "a/", "a//", "a/b", "a//b", "/a",
        "/a/",
        "a/.", "a/..", "a/../b", "a\\b", "\\", "C:\\con", "nul", "-rf", "~", "*", "?", "journal-0", "journal-1",
        "sessions",
        "bell-0", ".tmp", ".lock", "a.tmp", "a~",
    ]
    private static let escapes = [
        "%", "%2F", "%2f", "%2Fa", "a%2Fb", "a%00b", "__0x2f__", "__0x2F__a", "\\x2f", "&#47;", "a=2Fb", "+", " ", "  ",
        " a", "a ", "$HOME", "${a}", "$(a)", "`a`", "'", "\"", "a'b", "a;b", "a|b", "a&b", "a<b>", "{}", "[]", "(null)",
        "nil",
    ]
    private static let controls = [
        "\0", "\0\0", "a\0", "a\0b", "\0a", "\t", "\n", "\r", "\r\n", "a\nb", "\u{1b}[31m", "\u{7f}", "\u{80}",
        "\u{85}",
        "\u{200b}", "\u{200d}", "\u{202e}a", "\u{feff}", "\u{feff}a", "\u{fffd}", "\u{ffff}", "\u{10ffff}",
    ]
    private static let letters = [
        "é", "e\u{301}", "Å", "\u{212b}", "A\u{30a}", "ß", "ss", "SS", "ﬀ", "ff", "İ", "i", "I", "ı", "K", "\u{212a}",
        "😀", "👨‍👩‍👧",
        "👨", "ａ", "א", "שלום", "日本", "A", "B", "b",
    ]
}

/// Values with a checksum that shows whether they are complete, followed by random bytes.
enum Checksummed {
    /// A value that holds the bytes of two others.
    struct Torn: Error, CustomStringConvertible {
        let key: Key
        let byteCount: Int

        var description: String { "a torn value of \(byteCount) bytes under \(key)" }
    }

    static func value(of count: Int, from random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<max(count - 8, 0) { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        return withUnsafeBytes(of: checksum(bytes[...]).littleEndian) { Array($0) } + bytes
    }

    static func verify(_ entry: Entry) throws(Torn) {
        guard entry.value.count >= 8 else { throw Torn(key: entry.key, byteCount: entry.value.count) }
        let expected = withUnsafeBytes(of: checksum(entry.value[8...]).littleEndian) { Array($0) }
        guard entry.value.prefix(8).elementsEqual(expected) else {
            throw Torn(key: entry.key, byteCount: entry.value.count)
        }
    }

    /// Returns a checksum: FNV-1a over the bytes and their count.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
