internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Commands and amounts in a configuration")
struct CommandTextTests {
    @Test(
        "A command is words, of which some stand in quotes",
        arguments: [
            ("run", ["run"]), ("  run  it ", ["run", "it"]), ("run 'a b' \"c 'd'\"", ["run", "a b", "c 'd'"]),
            ("run a'b c'd", ["run", "ab cd"]), ("run '' x", ["run", "", "x"]), ("run --id={id}", ["run", "--id={id}"]),
        ])
    func words(text: String, words: [String]) {
        #expect(CommandText.parse(text) == words)
    }

    @Test("Text that is no command is refused", arguments: ["", "  ", "run 'a", "run \"", "''", "run\0"])
    func none(text: String) {
        #expect(CommandText.parse(text) == nil)
    }

    @Test(
        "A word is written and read as the same, even if its first scalar joins the quote before it",
        arguments: ["\u{301} x", "a \u{301}\"", "\u{200D}'b c", "\"\u{301}", "a\r\nb", "\r\n\u{301}"])
    func marks(word: String) {
        let text = CommandText.write(["run", word])
        #expect(CommandText.parse(text)?.map { Array($0.utf8) } == [Array("run".utf8), Array(word.utf8)], "\(text)")
    }

    @Test(
        "An amount is a number with a unit",
        arguments: [("1", 1), ("24MiB", 24 << 20), ("3KiB", 3 << 10), ("2GiB", 2 << 30)] as [(String, UInt64)])
    func amounts(text: String, count: UInt64) {
        #expect(ByteCountText.parse(text) == count)
    }

    @Test(
        "A text that is no amount is refused",
        arguments: ["", "0", "MiB", "-1", "1.5MiB", "24MB", "24 MiB", "99999999999GiB"])
    func noAmount(text: String) {
        #expect(ByteCountText.parse(text) == nil)
    }
}
