internal import Foundation

/// The files of this checkout.
enum Repository {
    static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The paths of the files below some folders with a suffix, without build products.
    static func files(below folders: String..., ending suffix: String) throws -> [String] {
        try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                .filter { $0.hasSuffix(suffix) && !$0.split(separator: "/").contains(".build") }
                .map { folder + "/" + $0 }
        }.sorted()
    }
}
