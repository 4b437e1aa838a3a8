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
            let text = try Repository.text(path)
            return (lines: Listing.pieces(text).flatMap { $0 }, imports: Listing.imports(of: text))
        }
    }

    @Test("Each piece of a listing stands in a file that is compiled", arguments: try Listing.all())
    func compiled(listing: Listing) throws {
        let sources = try Self.sources.get()
        for piece in listing.pieces {
            #expect(sources.contains { $0.lines.contains(piece) }, "nowhere: \(piece.joined(separator: "\n"))")
        }
    }

    /// The READMEs of the examples are left out: they quote pieces of files that stand beside them.
    private static let pages = Result {
        Dictionary(grouping: try Listing.all().filter { !$0.page.hasPrefix("Examples/") }, by: \.page).values
            .sorted { $0[0].page < $1[0].page }
    }

    @Test("A page says before its first listing what to import", arguments: try pages.get())
    func saysImports(listings: [Listing]) throws {
        guard let first = listings.first(where: { $0.imports.isEmpty }) else { return }  // all are whole files
        #expect(
            first.before.contains { $0.hasPrefix("Swift: `import ") },
            "\(first) has no line “Swift: `import …`” before it")
    }

    @Test("The imports that a page names are all that its listings were compiled with", arguments: try pages.get())
    func importsSuffice(listings: [Listing]) throws {
        let sources = try Self.sources.get()
        let text = try Repository.text(listings[0].page)
        var imported = listings.reduce(into: Set(text.matches(of: /`import (\w+)`/).map { String($0.1) })) {
            $0.formUnion($1.imports)
        }
        if imported.contains("SharedCore") { imported.formUnion(try Listing.reexports()) }
        for listing in listings {
            for piece in listing.pieces {
                #expect(
                    sources.contains { $0.imports.isSubset(of: imported) && $0.lines.contains(piece) },
                    """
                    \(listing): with \(imported.sorted()) alone no file has this: \(piece.joined(separator: "\n"))
                    """)
            }
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
    /// The modules that the page's code imports by itself.
    let imports: Set<String>
    /// The lines of the page before it.
    let before: [String]

    var description: String { "\(page), listing \(number)" }

    /// All of the pages and of the modules' articles.
    static func all() throws -> [Listing] {
        let pages = try Repository.files(below: "Docs", "Sources", "Examples", ending: ".md") + ["README.md"]
        return try pages.flatMap { page -> [Listing] in
            let parts = try Repository.text(page).components(separatedBy: "```swift\n")
            return parts.indices.dropFirst().map { index in
                let block = parts[index].components(separatedBy: "\n```").first ?? ""
                return Listing(
                    page: page, number: index, pieces: pieces(block), imports: imports(of: block),
                    before: parts[..<index].joined().components(separatedBy: "\n"))
            }
        }
    }

    /// The modules that a source imports.
    static func imports(of text: String) -> Set<String> {
        Set(text.matches(of: /(?m)^(?:\w+ )?import (\w+)/).map { String($0.1) })
    }

    /// The modules that come with `import SharedCore`.
    static func reexports() throws -> Set<String> {
        let sources = try Repository.files(below: "Sources/SharedCore", ending: ".swift")
        return try sources.reduce(into: []) { modules, path in
            let text = try Repository.text(path)
            modules.formUnion(text.matches(of: /@_exported public import (\w+)/).map { String($0.1) })
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
