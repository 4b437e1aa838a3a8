import Foundation

/// The server of this tutorial: a folder in which each file is a message. Its name is the call-id that the push announces.
struct LetterBox {
    let folder: URL

    init(in directory: String) throws {
        folder = URL(filePath: directory).appending(path: "letters")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func letters() throws -> [(callID: String, text: String)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
            let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
            // One that is still being written has no end yet.
            return text.hasSuffix("\n") ? (name, String(text.dropLast())) : nil
        }
    }

    func throwAway(_ callID: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: callID))
    }
}
