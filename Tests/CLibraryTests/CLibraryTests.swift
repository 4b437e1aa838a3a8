internal import Platform
internal import TestSupport
internal import Testing

@Suite("Programs in C and Python take part through libsharedcore")
struct CLibraryTests {
    @Test("The programs in C and the tests of the Python package hold with the built library", .timeLimit(.minutes(10)))
    func programs() async throws {
        let library = try OwnProgram.sibling("libsharedcore-c.so")
        let program = try ChildProcess.built("sharedcore")
        let script = try ChildProcess(
            Self.root + "/Scripts/try-c-library", [library, program], keepsErrors: true)
        let end = await script.end()
        #expect(end == .exited(0), "\(script.lines.joined(separator: "\n"))\n\(script.errorText(upTo: 1 << 16))")
    }

    @Test("The programs on the page are those of Examples/CLibrary")
    func page() throws {
        let page = OpenFile.text(of: Self.root + "/Docs/CLibrary.md", upTo: 1 << 20) ?? ""
        for (name, language) in [("follow.c", "c"), ("follow.py", "python"), ("core.py", "python")] {
            let program = try #require(OpenFile.text(of: Self.root + "/Examples/CLibrary/" + name, upTo: 1 << 20))
            #expect(page.contains("```\(language)\n\(program)```"), "\(name)")
        }
    }

    /// The package's directory.
    private static var root: String {
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    }
}
