internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import MaildirCore
internal import Platform

/// The server side of the demo: a Maildir, to which messages are delivered as a mail transfer agent does it.
struct DemoServer: Sendable {
    /// The path of the Maildir.
    let path: String

    private let thread = SerialThread(name: "server")

    init(path: String) throws {
        self.path = path
        for folder in ["tmp", "new", "cur"] {
            try FileManager.default.createDirectory(
                atPath: path + "/" + folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Delivers a message: written to `tmp`, then moved to `new` in one step.
    func deliver(_ mail: DemoMail) async throws {
        try await thread.run { [path] in
            let name = mail.fileName
            // Do not use Foundation here: it opens files without close-on-exec, so an Executor that starts meanwhile
            // would inherit the open file, and a core skips a message that a process has open for writing.
            try OpenFile(path: path + "/tmp/" + name, .createNew).write(Array(mail.content.utf8), at: 0)
            try FileManager.default.moveItem(atPath: path + "/tmp/" + name, toPath: path + "/new/" + name)
        }
    }

    /// Gives back a message that cores have set aside because it ended processes, as `maildir --retry poison` does.
    ///
    /// - Returns: False if it was not set aside.
    func retry(_ mail: DemoMail, in group: any SharedGroup) async throws -> Bool {
        let found = try await thread.run { [path] in try SetAsideMessage.toRetry(.poison, of: path) }
        guard let found, let index = found.callIDs.firstIndex(of: mail.callID),
            try await Inbox(group).forgetNotice(of: mail.callID) == .gone
        else { return false }
        try await thread.run { () throws(SystemCallError) in try found.giveBack(index) }
        return true
    }

    /// Returns how many messages wait for a core, how many were acknowledged by one, and how many were set aside.
    func counts() async throws -> (waiting: Int, acknowledged: Int, setAside: Int) {
        try await thread.run { [path] in
            let files = FileManager.default
            return (
                try files.contentsOfDirectory(atPath: path + "/new").count,
                try files.contentsOfDirectory(atPath: path + "/cur").count,
                try SetAsideMessage.all(beside: path).count
            )
        }
    }
}
