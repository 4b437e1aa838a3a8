/// Keys that stores have stumbled over. None of them means anything here but its bytes.
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
