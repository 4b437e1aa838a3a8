internal import Foundation
internal import Testing

@Suite("The pages' links lead to what is there")
struct LinkTests {
    @Test("Each link to a file of this checkout, or to a heading, leads to one")
    func links() throws {
        let root = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
        let pages =
            try Repository.files(below: "Docs", "Sources", "Tests", "Examples", "Benchmarks", ending: ".md") + root
        var count = 0
        for page in pages {
            let folder = Repository.root.appending(path: page).deletingLastPathComponent()
            for link in try Self.text(page).matches(of: #/\]\((?<path>[^)\s:#]*)(?:#(?<heading>[^)\s]*))?\)/#) {
                count += 1
                let file = link.path.isEmpty ? page : folder.appending(path: link.path).standardizedFileURL.path
                let path = file.replacing(Repository.root.path + "/", with: "")
                guard FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path) else {
                    Issue.record("\(page): there is no \(link.path)")
                    continue
                }
                guard let heading = link.heading, path.hasSuffix(".md") else { continue }
                #expect(try Self.headings(of: path).contains(String(heading)), "\(page): \(link.0)")
            }
        }
        #expect(count > 150)
    }

    /// A page without its blocks of code.
    private static func text(_ page: String) throws -> String {
        try Repository.text(page).components(separatedBy: "\n```").enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: "\n")
    }

    /// The headings of a page, as links name them.
    private static func headings(of page: String) throws -> Set<String> {
        Set(
            try text(page).split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }.replacing(" ", with: "-")
            })
    }
}
