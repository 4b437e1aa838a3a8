internal import Glibc
internal import Platform

/// A fresh directory of mode 0700, removed with all that is in it when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// The absolute path of the directory.
    package let path: String

    /// Makes a directory below `parent`, or below the system's directory for temporary files.
    package init(in parent: String? = nil) throws {
        path = try Directory.makeTemporary(
            "sharedcore-test", in: parent ?? getenv("TMPDIR").map { String(cString: $0) })
    }

    deinit {
        Self.remove(path)
    }

    /// The path of something in the directory.
    package func path(of name: String) -> String { path + "/" + name }

    /// The names of the entries of the directory, sorted.
    package var names: [String] { Self.names(in: path).sorted() }

    /// Removes a file or a directory with all that is in it. Follows no symbolic link.
    package static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        _ = chmod(path, 0o700)
        for name in names(in: path) { remove(path + "/" + name) }
        _ = rmdir(path)
    }

    /// Returns the names of the entries of a directory; none if it cannot be read.
    package static func names(in path: String) -> [String] {
        (try? Directory(path: path).names()) ?? []
    }
}
