internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

/// `Scripts/manual` reads the sources and the pages by their words, so a changed sentence can stop it.
@Suite("The manual pages")
struct ManualTests {
    @Test("Each program has a page with its options, its output and its exit statuses")
    func pages() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "manual-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let script = Process()
        script.executableURL = Repository.root.appending(path: "Scripts/manual")
        script.arguments = [try ChildProcess.built("sharedcore"), directory.path]
        let errors = Foundation.Pipe()
        script.standardError = errors
        try script.run()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        script.waitUntilExit()
        #expect(script.terminationStatus == 0, "\(text)")
        for (page, words) in [
            ("sharedcore.1", ["push", "69", "zmq.endpoint"]),
            ("sharedcore-executor.1", ["call-id", "Standard output is one JSON line", "64 wrong usage"]),
            ("sharedcore-holder.1", ["directory", "Standard output is"]),
        ] {
            let found = try String(contentsOf: directory.appending(path: page), encoding: .utf8)
            for word in words + [".Sh NAME", ".Sh EXIT STATUS"] { #expect(found.contains(word), "\(page): \(word)") }
        }
    }
}
