import Platform

/// Where a Main for tests writes down what it did, so that a later one goes on.
struct Notebook: Sendable {
    private let file: OpenFile

    init(path: String) throws(SystemCallError) {
        file = try OpenFile(path: path, .create)
        try file.appendOnly()
    }

    func write(_ line: String) throws(SystemCallError) {
        try file.writeStream(Array((line + "\n").utf8))
    }
}
