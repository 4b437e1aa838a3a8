internal import CoreAPI
internal import FileNotifyBackend
internal import FoundationEssentials
internal import Glibc

/// A group in a directory of its own.
struct ScratchGroup {
    private let path: String

    struct NoDirectory: Error {}

    init() throws {
        // SharedCore's own way to make one is not for other packages, which this is.
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/sharedcore-bench-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw NoDirectory() }
        path = String(cString: made)
    }

    func open() async throws -> FileGroup {
        try await FileGroup.open(
            directory: path + "/group", as: SessionDescription(role: .tool, name: "bench"), options: FileGroupOptions())
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
