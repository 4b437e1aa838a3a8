package import Coordination

/// A message as a ``SharedServer`` keeps it: lines of text.
package struct ServedMessage: Hashable, Sendable {
    /// The name of its file.
    package let name: String
    package let message: InboxMessage

    init(name: String, message: InboxMessage) {
        self.name = name
        self.message = message
    }

    /// Nil for a text of another form.
    init?(name: String, text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 2, let callID = CallID(lines[1]) else { return nil }
        switch (lines[0], lines.count) {
        case ("text", 5):
            message = InboxMessage(callID: callID, content: .text(from: lines[2], to: lines[3], text: lines[4]))
        case ("invitation", 5):
            message = InboxMessage(
                callID: callID, content: .invitation(from: lines[2], subject: lines[3], localAddress: lines[4]))
        case ("tooLarge", 4):
            message = InboxMessage(callID: callID, content: .tooLarge(from: lines[2], to: lines[3]))
        case ("nothing", 2):
            message = InboxMessage(callID: callID, content: .nothingToShow)
        default:
            return nil
        }
        self.name = name
    }

    var text: String {
        switch message.content {
        case .text(let from, let to, let text): ["text", message.callID.text, from, to, text].joined(separator: "\n")
        case .invitation(let from, let subject, let address):
            ["invitation", message.callID.text, from, subject, address].joined(separator: "\n")
        case .tooLarge(let from, let to): ["tooLarge", message.callID.text, from, to].joined(separator: "\n")
        case .nothingToShow: ["nothing", message.callID.text].joined(separator: "\n")
        }
    }
}
