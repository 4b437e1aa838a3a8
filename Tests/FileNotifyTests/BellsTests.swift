internal import CoreAPI
internal import Testing

@testable internal import FileNotifyBackend

@Suite("Bells")
struct BellsTests {
    @Test("N4: a change of a key rings whoever watches a path above it, the key itself, or everything")
    func pathsAboveAreRung() throws {
        let rung = Bells(changing: "a/b/c")
        for prefix in ["", "a", "a/b", "a/b/", "a/b/c"] as [KeyPrefix] {
            #expect(rung.isSuperset(of: Bells(listeningTo: prefix)), "\(prefix)")
        }
    }

    @Test(
        "S4: every prefix that selects a key has one of its bells", arguments: ["/", "//", "a//b", "/a", "a/", "a//"])
    func strangePathsAreRung(text: String) throws {
        let key = try Key(text)
        for end in text.indices + [text.endIndex] {
            let prefix = try KeyPrefix(String(text[..<end]))
            guard prefix.contains(key) else { continue }
            #expect(Bells(changing: key).isSuperset(of: Bells(listeningTo: prefix)), "\(text) under \(prefix)")
        }
    }

    @Test("N4: different names and paths spread over all bells, one each")
    func bellsSpread() throws {
        var ofNames = Bells()
        var ofPaths = Bells()
        for index in 0..<1_000 {
            let name = Bells(of: try NotificationName("name \(index)"))
            let path = Bells(listeningTo: try KeyPrefix("path/\(index)"))
            #expect(name.rawValue.nonzeroBitCount == 1 && path.rawValue.nonzeroBitCount == 1)
            ofNames.formUnion(name)
            ofPaths.formUnion(path)
        }
        #expect(ofNames == .all && ofPaths == .all)
    }
}
