import Foundation
import Testing

@Suite("What the README shows")
struct ReadmeTests {
    private static let example = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private func read(_ path: String) throws -> String {
        try String(contentsOf: Self.example.appending(path: path).standardizedFileURL, encoding: .utf8)
    }

    /// The blocks of Swift, without the indentation that all their lines have.
    private func blocks(of page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }

    /// The lines without what stands before and after them: the README does not indent what stands in a function.
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("What a Main and an Executor write is what is compiled here", arguments: ["MainProgram", "PushProgram"])
    func compiled(file: String) throws {
        let source = lines(try read("Sources/messenger/\(file).swift"))
        let blocks = blocks(of: try read("../../README.md")).map(lines)
        let shown = try #require(
            blocks.first { !$0.isEmpty && source.contains($0[0]) }, "the README shows nothing of it")
        let start = try #require(source.firstIndex(of: shown[0]))
        #expect(Array(source[start...].prefix(shown.count)) == shown)
        #expect((8...14).contains(shown.count), "about ten lines")
    }

    @Test("Each block of the README stands in one of the programs")
    func nothingElse() throws {
        let sources = try ["MainProgram", "PushProgram"].map { lines(try read("Sources/messenger/\($0).swift")) }
        let blocks = blocks(of: try read("../../README.md")).map(lines)
        #expect(blocks.count == 2)
        for block in blocks { #expect(sources.contains { $0.contains(block.first ?? "") }) }
    }
}
