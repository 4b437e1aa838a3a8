internal import CoreAPI
internal import KeptSockets
internal import Platform

/// Whether Main is to stay down, remembered for one run of the machine.
struct MainMemory {
    let directory: Directory
    private static let closed = "closed"

    /// Whether a Main of this run of the machine was closed and has not been started since. What cannot be read counts
    /// as nothing: a Main too many starts is better than none.
    func isClosed() -> Bool {
        guard let file = try? OpenFile(KeeperPlace.memoryName, in: directory, .read),
            let bytes = try? file.read(count: 256, at: 0)
        else { return false }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return words.count == 2 && words[0] == Self.closed && words[1] == SystemClock().bootID.description
    }

    func remember(isClosed: Bool) throws(SystemCallError) {
        guard isClosed else {
            try directory.remove(KeeperPlace.memoryName)
            return
        }
        let file = try OpenFile(KeeperPlace.memoryName, in: directory, .create)
        try file.truncate(to: 0)
        try file.write(Array("\(Self.closed) \(SystemClock().bootID)\n".utf8), at: 0)
    }
}
