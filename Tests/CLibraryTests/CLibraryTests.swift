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

    @Test("The fuzz and the Python package know each call of the header")
    func everyCall() throws {
        let header = try Self.calls(
            in: "Sources/CSharedCore/include/sharedcore.h", #/^(?:int32_t|uint32_t|void|const char \*) ?(sc_\w+)\(/#)
        #expect(header.count > 40)
        let fuzz = try Self.calls(in: "Tests/CLibraryTests/C/fuzz.c", #/^ +CALL\((sc_\w+)\)/#)
        #expect(fuzz == header, "\(fuzz.symmetricDifference(header).sorted())")
        let python = try Self.calls(in: "bindings/python/sharedcore/_library.py", #/(?:^ +"|library\.)(sc_\w+)/#)
        // A Python program has its own handlers of signals.
        let missing: Set = ["sc_handle_bus_errors"]
        #expect(
            header.subtracting(python) == missing, "\(header.subtracting(python).symmetricDifference(missing).sorted())"
        )
    }

    @Test("The programs on the page are those of Examples/CLibrary")
    func page() throws {
        let page = OpenFile.text(of: Self.root + "/Docs/Reference/CLibrary.md", upTo: 1 << 20) ?? ""
        for (name, language) in [("follow.c", "c"), ("follow.py", "python"), ("core.py", "python")] {
            let program = try #require(OpenFile.text(of: Self.root + "/Examples/CLibrary/" + name, upTo: 1 << 20))
            #expect(page.contains("```\(language)\n\(program)```"), "\(name)")
        }
    }

    private static func calls(in file: String, _ pattern: Regex<(Substring, Substring)>) throws -> Set<String> {
        let text = try #require(OpenFile.text(of: root + "/" + file, upTo: 1 << 20))
        return Set(text.matches(of: pattern.anchorsMatchLineEndings()).map { String($0.1) })
    }

    /// The package's directory.
    private static var root: String {
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    }
}
