import Foundation
import Testing

@Suite("The tutorial shows this program")
struct PageTests {
    private static let example = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private func read(_ path: String) throws -> String {
        try String(contentsOf: Self.example.appending(path: path).standardizedFileURL, encoding: .utf8)
    }

    /// The blocks of Swift on the page, whole.
    private func listings() throws -> [String] {
        try read("../../Docs/Guide/FirstPair.md").components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    @Test("Each file of it is a listing, and each listing a file")
    func files() throws {
        let sources = try FileManager.default.contentsOfDirectory(
            atPath: Self.example.appending(path: "Sources/pair").path)
        var files = try Set(sources.map { try read("Sources/pair/\($0)") })
        // A reader of the tutorial has no tests yet.
        files.insert(try #require(read("Package.swift").components(separatedBy: "\n// The tutorial ends").first))
        #expect(try Set(listings()) == files)
        #expect(files.count == sources.count + 1)
    }
}
