internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S2: keys are 1 to 512 bytes of UTF-8, compared by their bytes")
struct KeyTests {
    @Test("S2: 512 bytes are a key, 513 are an invalid argument, never cut")
    func lengthIsBounded() throws {
        #expect(try Key(String(repeating: "k", count: 512)).text.utf8.count == 512)
        // 170 times three bytes and two more, so that the limit falls into the middle of a character.
        #expect(try Key(String(repeating: "€", count: 170) + "ab").text.utf8.count == 512)
        for text in ["", String(repeating: "k", count: 513), String(repeating: "€", count: 171)] {
            let error = #expect(throws: SharedCoreError.self) { try Key(text) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test("S2: names of notifications and prefixes keep the same bounds")
    func namesAndPrefixesAreBounded() throws {
        #expect(try KeyPrefix(String()) == .all)
        #expect(try KeyPrefix(String(repeating: "k", count: 512)).path.utf8.count == 512)
        // Texts from outside of the source: a literal would be checked as one, and stop the program.
        let (long, empty) = (String(repeating: "k", count: 513), String())
        #expect(#expect(throws: SharedCoreError.self) { try KeyPrefix(long) }?.code == .invalidArgument)
        #expect(#expect(throws: SharedCoreError.self) { try NotificationName(long) }?.code == .invalidArgument)
        #expect(#expect(throws: SharedCoreError.self) { try NotificationName(empty) }?.code == .invalidArgument)
    }

    @Test("S2, E2: with a literal, the initializer that is named throws")
    func namedInitializerThrows() throws {
        #expect(#expect(throws: SharedCoreError.self) { try Key.init("") }?.code == .invalidArgument)
        #expect(#expect(throws: SharedCoreError.self) { try NotificationName.init("") }?.code == .invalidArgument)
        #expect(try KeyPrefix.init("") == .all)
        #expect(try Key.init("a/b") == "a/b")
    }

    @Test("E2: an invalid literal stops the program, which says what is wrong and which initializer throws")
    func invalidLiteralStops() async throws {
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Key("") }
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let _: NotificationName = ""
        }
        let prefix = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = KeyPrefix(stringLiteral: Self.longLiteral)
        }
        for (result, type, fault) in [
            (key, "Key", "A key cannot be empty."), (name, "NotificationName", "A notification name cannot be empty."),
            (prefix, "KeyPrefix", "A key prefix has at most 512 bytes"),
        ] {
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(text.contains("Invalid literal for \(type): \(fault)"))
            #expect(text.contains("try \(type).init(…)"))
        }
    }

    /// 525 bytes.
    private static let longLiteral: StaticString = """
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\
        kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
        """

    @Test("S2: composed and decomposed letters are different keys, names and prefixes")
    func canonicalEquivalenceIsNotEquality() throws {
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        #expect(composed == decomposed, "Swift takes these strings for equal, which is the trap")
        #expect(try Key(composed) != Key(decomposed))
        #expect(try Set([Key(composed), Key(decomposed)]).count == 2)
        #expect(try NotificationName(composed) != NotificationName(decomposed))
        #expect(try KeyPrefix(composed) != KeyPrefix(decomposed))
        #expect(try !KeyPrefix(composed).contains(Key(decomposed)))
        #expect(try !KeyPrefix(composed).contains(Key(decomposed + "/under")))
    }

    @Test("S2: keys are ordered by their bytes", arguments: Seed.several(4))
    func orderIsThatOfBytes(seed: Seed) throws {
        var random = SeededRandom(seed)
        let alphabet: [Character] = ["a", "/", "\0", "é", "e", "\u{301}", "😀", "\u{ffff}", "Z"]
        func text() -> String {
            String(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" })
        }
        for _ in 0..<2000 {
            let left = text()
            let right = text()
            let leftBytes = Array(left.utf8)
            let rightBytes = Array(right.utf8)
            let keys = (try Key(left), try Key(right))
            #expect((keys.0 < keys.1) == leftBytes.lexicographicallyPrecedes(rightBytes))
            #expect((keys.0 == keys.1) == (leftBytes == rightBytes))
            if keys.0 == keys.1 { #expect(keys.0.hashValue == keys.1.hashValue) }
        }
    }

    @Test("S2: keys that differ in one byte are ordered by it, at any position in a machine word", arguments: 0...17)
    func orderOfEachByte(offset: Int) throws {
        // Of one, two, three and four bytes, with first bytes below and above 0x80; equal up to the offset, and of any length behind.
        let characters = ["\0", "/", "a", "\u{7f}", "\u{80}", "é", "ÿ", "\u{fff}", "€", "\u{ffff}", "😀", "\u{10ffff}"]
        let path = String("path/of/eighteen//".prefix(offset))
        let texts = characters.flatMap { one in
            ["", "b", "é", "seven/b", "eight/by", "nine/byte"].map { path + one + $0 }
        }
        for left in texts + [path, path + "aa"] where !left.isEmpty {
            for right in texts + [path, path + "aa"] where !right.isEmpty {
                let bytes = (Array(left.utf8), Array(right.utf8))
                #expect(try (Key(left) < Key(right)) == bytes.0.lexicographicallyPrecedes(bytes.1), "\(bytes)")
                #expect(try KeyPrefix(left).begins(Key(right)) == bytes.1.starts(with: bytes.0), "\(bytes)")
            }
        }
    }

    @Test("S2: a string that was bridged or cut out of another is the same key")
    func storageOfTheTextDoesNotMatter() throws {
        let whole = "prefix/a/b/suffix"
        let cut = String(whole.dropFirst(7).dropLast(7))
        #expect(try Key(cut) == "a/b")
        #expect(try Key(cut).hashValue == Key("a/b").hashValue)
    }
}
