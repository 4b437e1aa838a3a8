internal import Foundation
internal import Testing

@Suite("E1: the documentation says which situation gives which code")
struct ErrorCodeTests {
    @Test("Each code of each error type has a row, and each row is a code")
    func rows() throws {
        let page = try Repository.text("Docs/Reference/ErrorCodes.md")
        var types: Set<String> = []
        for file in try Repository.files(below: "Sources", ending: "Error.swift") {
            let source = try Repository.text(file)
            guard source.contains("public struct Code: ") else { continue }
            let type = try #require(file.split(separator: "/").last?.split(separator: ".").first)
            types.insert(String(type))
            let codes = source.components(separatedBy: "public static let ").dropFirst()
                .compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(!codes.isEmpty, "\(file)")
            let section = try #require(
                page.components(separatedBy: "\n## ").first { $0.prefix { $0 != "\n" }.contains("`\(type)`") },
                "no section for \(type)")
            let rows = section.components(separatedBy: "\n| `").dropFirst()
                .compactMap { $0.components(separatedBy: "`").first }
            #expect(rows == codes, "\(type)")
        }
        #expect(
            types == ["CommandCoreError", "CoordinationError", "LifecycleError", "SharedCoreError", "WormholeError"])
    }
}
