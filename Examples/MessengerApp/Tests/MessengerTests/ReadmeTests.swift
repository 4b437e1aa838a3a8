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

    /// The lines without white space at their ends: the README does not indent the body of a function.
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

    @Test("Each block of the README stands in this package")
    func nothingElse() throws {
        let sources = try ["Package", "Sources/messenger/MainProgram", "Sources/messenger/PushProgram"].map {
            lines(try read("\($0).swift"))
        }
        // The README's package lies beside the clone.
        let page = try read("../../README.md").replacing("../SharedCore", with: "../..")
        let blocks = blocks(of: page).map(lines)
        #expect(blocks.count == 3)
        for block in blocks { #expect(sources.contains { source in block.allSatisfy(source.contains) }, "\(block)") }
    }
}
