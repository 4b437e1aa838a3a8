package import Platform

/// The files that have a text, to prove that a secret is in none.
package enum FilesWithText {
    /// Returns the paths of the regular files below a directory that have the text. A file that goes meanwhile has none.
    package static func find(_ text: String, below path: String) throws(SystemCallError) -> [String] {
        var found: [String] = []
        var folders = [path]
        while let folder = folders.popLast() {
            for name in try Directory(path: folder).names() {
                let path = folder + "/" + name
                switch try? FilePresence(ofPath: path).kind {
                case .directory: folders.append(path)
                case .regular:
                    guard let content = try? OpenFile(path: path, .read).read(count: 64 << 20, at: 0) else { continue }
                    if String(decoding: content, as: UTF8.self).contains(text) { found.append(path) }
                default: break
                }
            }
        }
        return found
    }
}
