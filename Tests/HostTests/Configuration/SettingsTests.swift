internal import Foundation
internal import SharedCoreConfiguration
internal import Testing

@testable internal import sharedcore

@Suite("The table of settings is complete")
struct SettingsTests {
    @Test("E2: every setting that is declared is in the table, once")
    func declarations() throws {
        let file = URL(filePath: #filePath).appending(
            path: "../../../../Sources/SharedCoreConfiguration/Settings.swift")
        let source = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        let declared = source.matches(of: /static let \w+ = Setting\(\s*"([^"]+)"/).map { String($0.output.1) }
        let listed = Settings.all.map(\.name).filter { !$0.hasPrefix("serviceLevels.") }
        #expect(listed.sorted() == declared.sorted())
    }
}
