internal import Foundation

/// A block of Swift on a page, as the pieces between its empty lines.
struct Listing: CustomStringConvertible {
    let page: String
    let number: Int
    let pieces: [[String]]

    var description: String { "\(page), listing \(number)" }

    /// All of the pages and of the rooms' articles.
    static func all() throws -> [Listing] {
        let pages = try Repository.files(below: "Docs", "Sources", "Examples", ending: ".md") + ["README.md"]
        return try pages.flatMap { page -> [Listing] in
            let blocks = try Repository.text(page).components(separatedBy: "```swift\n").dropFirst()
            return blocks.enumerated().map { index, rest in
                let block = rest.components(separatedBy: "\n```").first ?? ""
                return Listing(page: page, number: index + 1, pieces: pieces(block))
            }
        }
    }

    /// The lines of a text without what stands before and after them, where an empty one begins a new piece: a page does
    /// not indent what stands in a function, and aligns its comments. An import says on a page nothing of its access.
    static func pieces(_ text: String) -> [[String]] {
        text.components(separatedBy: "\n").map { line in
            var words = line.split(separator: " ")
            if words.count == 3, words[1] == "import" { words.removeFirst() }
            return words.joined(separator: " ")
        }.split(separator: "").map(Array.init)
    }
}
