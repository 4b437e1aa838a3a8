internal import Testing

@Suite("The pages show what is compiled")
struct ListingTests {
    /// What is compiled: the target “Listings”, the examples, and the article of the kit for tests, whose code is tests.
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
