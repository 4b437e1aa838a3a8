internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S4: a prefix is a path")
struct KeyPrefixTests {
    @Test(
        "S4: `a/b` selects itself and what lies under it, never `a/bc`",
        arguments: [
            ("a/b", "a/b", true), ("a/b", "a/b/", true), ("a/b", "a/b/c", true), ("a/b", "a/b//", true),
            ("a/b", "a/bc", false), ("a/b", "a", false), ("a/b", "a/", false), ("a/b", "b", false),
            ("a/b/", "a/b", false), ("a/b/", "a/b/", true), ("a/b/", "a/b/c", true), ("a/b/", "a/bc", false),
            ("/", "/", true), ("/", "/a", true), ("/", "a", false), ("a", "a\u{301}", false), ("..", "../etc", true),
        ])
    func selection(prefix: String, key: String, isSelected: Bool) throws {
        #expect(try KeyPrefix(prefix).contains(Key(key)) == isSelected)
    }

    @Test("S4: the empty prefix selects all", arguments: ["a", "/", "\0", "a/b/c"])
    func allSelectsAll(key: String) throws {
        #expect(try KeyPrefix.all.contains(Key(key)))
    }

    @Test("S4: selecting by bytes is selecting by the parts of a path", arguments: Seed.several(4))
    func selectionFollowsTheParts(seed: Seed) throws {
        var random = SeededRandom(seed)
        func path() -> String {
            String((0..<Int.random(in: 1...5, using: &random)).map { _ in "ab/".randomElement(using: &random) ?? "a" })
        }
        for _ in 0..<4000 {
            let prefix = path()
            let key = path()
            let parts = prefix.split(separator: "/", omittingEmptySubsequences: false)
            let keyParts = key.split(separator: "/", omittingEmptySubsequences: false)
            let expected =
                prefix.hasSuffix("/")
                ? keyParts.count >= parts.count && keyParts.starts(with: parts.dropLast())
                : keyParts.starts(with: parts)
            #expect(try KeyPrefix(prefix).contains(Key(key)) == expected, "prefix \(prefix), key \(key)")
        }
    }
}
