import Foundation
import Testing

@Suite("The article “Testing your application”")
struct ArticleTests {
    private func lines(_ path: String) throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: path).standardizedFileURL
        return lines(of: try String(contentsOf: file, encoding: .utf8))
    }

    /// The lines without what stands before and after them, and without empty ones.
    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("Its code is what is compiled and run here")
    func code() throws {
        let source = try lines("Article.swift")
        let article = try lines("../../Sources/SharedCoreTesting/SharedCoreTesting.docc/TestingYourApplication.md")
        let blocks = article.split(separator: "```swift").dropFirst().map { Array($0.prefix { $0 != "```" }) }
        #expect(blocks.count == 6)
        for block in blocks {
            let start = try #require(source.firstIndex(of: block[0]), "\(block[0])")
            #expect(Array(source[start...].prefix(block.count)) == block)
        }
    }
}
