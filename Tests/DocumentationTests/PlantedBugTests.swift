internal import Foundation
internal import Testing

/// `Scripts/fuzz` cannot be run by each change: this shows that its list of planted bugs still fits the sources.
@Suite("The planted bugs of the fuzz targets")
struct PlantedBugTests {
    @Test("Each target has three, and the text that each one replaces is in its file")
    func planted() throws {
        let script = try Repository.text("Scripts/fuzz")
        let list = try #require(script.firstMatch(of: /\ntargets = \[([^\]]*)\]/)).1
        let targets = list.matches(of: /"([a-z]+)"/).map { String($0.1) }
        var counts: [String: Int] = [:]
        var file = ""
        for line in try Repository.text("Tests/Fuzz/Planted").split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("- ") {
                #expect(try Repository.text(file).contains(line.dropFirst(2)), "\(file): \(line)")
            } else if !line.hasPrefix("+ ") {
                let words = line.split(separator: " ").map(String.init)
                try #require(words.count == 3, "\(line)")
                counts[words[0], default: 0] += 1
                file = words[2]
            }
        }
        #expect(Set(counts.keys) == Set(targets))
        for target in targets { #expect(counts[target, default: 0] >= 3, "\(target)") }
    }

    @Test("Each target has a corpus")
    func corpora() throws {
        let source = try Repository.text("Tests/Fuzz/Sources/FuzzTarget.swift")
        let targets = source.matches(of: /(?m)^    case ([a-z]+)$/).map { String($0.1) }
        #expect(targets.count > 9)
        for target in targets {
            let folder = Repository.root.appending(path: "Tests/Fuzz/Corpora/\(target)").path
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!files.isEmpty, "\(target)")
        }
    }
}
