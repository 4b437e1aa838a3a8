internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A fresh directory for the demo's group and Maildir.
struct DemoDirectory: Sendable {
    let path: String

    init(environment: [String: String]) throws {
        let base = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(base)/sharedcore-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp", number: errno, at: base) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes it with all that is in it.
    func remove() throws {
        try FileManager.default.removeItem(atPath: path)
    }
}
