internal import Foundation
internal import Testing

@Suite("The pages show what is compiled")
struct ListingTests {
    /// The compiled sources: the target “Listings”, the examples, and the article of the kit for tests, with tests as
    /// its code.
    private static let sources = Result {
        try Repository.files(
            below: "Tests/Listings", "Examples", "Tests/SharedCoreTestingTests", ending: ".swift"
        ).map { path in
            Listing.pieces(try Repository.text(path)).flatMap { $0 }
        }
    }

    @Test("Each piece of a listing stands in a file that is compiled", arguments: try Listing.all())
    func compiled(listing: Listing) throws {
        let sources = try Self.sources.get()
        for piece in listing.pieces {
            #expect(sources.contains { $0.contains(piece) }, "nowhere: \(piece.joined(separator: "\n"))")
        }
    }

    @Test("There are listings on the pages")
    func some() throws {
        let listings = try Listing.all()
        #expect(listings.count > 20)
        #expect(listings.contains { $0.page == "README.md" })
        #expect(listings.contains { $0.page.contains("CoreAPI.docc") })
    }
}

/// A block of Swift on a page, as the pieces between its empty lines.
struct Listing: CustomStringConvertible {
    let page: String
    let number: Int
    let pieces: [[String]]

    var description: String { "\(page), listing \(number)" }

    /// All of the pages and of the modules' articles.
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

    /// Returns the lines of a text without white space at their ends, in pieces that an empty line separates.
    ///
    /// A page does not indent the body of a function, and aligns its comments. An import on a page has no access level,
    /// and a package beside the clone has another path to it than one in Examples.
    static func pieces(_ text: String) -> [[String]] {
        text.components(separatedBy: "\n").map { line in
            var words = line.split(separator: " ")
            if words.count == 3, words[1] == "import" { words.removeFirst() }
            return words.joined(separator: " ").replacing(#""../SharedCore""#, with: #""../..""#)
        }.split(separator: "").map(Array.init)
    }
}
