internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A Maildir in a temporary directory, and the ways in which people and programs put messages there.
final class TestMaildir: Sendable {
    private let directory: TemporaryDirectory
    /// The path of the Maildir, which is not made before a core does or a message comes.
    let path: String

    init(in parent: String? = nil) throws {
        directory = try TemporaryDirectory(in: parent)
        path = directory.path(of: "Maildir")
    }

    /// Delivers as a mail transfer agent does: written in `tmp`, moved to `new`.
    func deliver(_ bytes: [UInt8], as name: String) throws {
        try makeFolders()
        try write(bytes, to: "tmp/\(name)")
        guard rename("\(path)/tmp/\(name)", "\(path)/new/\(name)") == 0 else {
            throw SystemCallError("rename", number: errno, at: "\(path)/new/\(name)")
        }
    }

    func deliver(_ text: String, as name: String) throws {
        try deliver(Array(text.utf8), as: name)
    }

    /// Delivers a message with an identifier and a text.
    func deliver(id: String, text: String = "hello", as name: String? = nil) throws {
        try deliver(Self.message(id: id, text: text), as: name ?? "\(id).mail")
    }

    static func message(id: String, text: String = "hello") -> String {
        "From: ann@example.org\nTo: bob@example.org\nCall-ID: \(id)\n\n\(text)\n"
    }

    /// Writes a file at once, in place.
    func write(_ bytes: [UInt8], to name: String) throws {
        try OpenFile(path: "\(path)/\(name)", .create).write(bytes, at: 0)
    }

    /// The names in a folder, sorted; none when it is missing.
    func names(_ folder: String) -> [String] {
        ((try? Directory(path: "\(path)/\(folder)").names()) ?? []).sorted()
    }

    func content(of name: String) throws -> [UInt8] {
        let file = try OpenFile(path: "\(path)/\(name)", .read)
        return try file.read(count: try file.status().byteCount, at: 0)
    }

    /// Makes the folders, as an installation of a mail transfer agent would.
    func makeFolders() throws {
        for folder in ["", "/tmp", "/new", "/cur"] {
            _ = try Directory.create(path: path + folder, permissions: 0o700)
        }
    }
}
