import Foundation
import SharedCore

/// A toy server: a directory with a file for each message that no client has acknowledged. The file's name is the
/// call-id that its push announces, its first line is the sender.
///
/// It lets one client in at a time, as a server does that knows one device: two cores at once would show.
struct MessengerServer: Sendable {
    let directory: URL

    /// The server refuses a second client.
    struct Busy: Error {}

    private var messages: URL { directory.appending(path: "messages") }
    private var client: URL { directory.appending(path: "client") }

    init(directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: messages, withIntermediateDirectories: true)
    }

    /// Stores a message, as its sender does.
    func send(_ text: String, from sender: String, as callID: String) throws {
        try Data("\(sender)\n\(text)".utf8).write(to: messages.appending(path: callID), options: .atomic)
    }

    func connect() throws {
        if let pid = (try? String(contentsOf: client, encoding: .utf8)).flatMap({ Int32($0) }), kill(pid, 0) == 0 {
            throw Busy()
        }
        try Data(String(getpid()).utf8).write(to: client)
    }

    func disconnect() {
        try? FileManager.default.removeItem(at: client)
    }

    func waiting() throws -> [InboxMessage] {
        try FileManager.default.contentsOfDirectory(atPath: messages.path).compactMap { name in
            let content = try String(contentsOf: messages.appending(path: name), encoding: .utf8)
            let parts = content.split(separator: "\n", maxSplits: 1).map(String.init)
            guard parts.count == 2, let callID = CallID(name) else { return nil }
            return InboxMessage(callID: callID, content: .text(from: parts[0], to: "me", text: parts[1]))
        }
    }

    func acknowledge(_ callID: CallID) throws {
        try FileManager.default.removeItem(at: messages.appending(path: callID.text))
    }
}
