internal import Coordination

/// The reason why a file is set aside instead of being delivered.
struct MailRefusal: Error, Hashable, Sendable {
    /// The reason of the refusal.
    enum Reason: Hashable, Sendable {
        case empty
        case unreadable(String)
        case noMessage
        case noIdentifier
        case identifierTooLong(maximum: Int)
        case nestedTooDeep(maximum: Int)
        case refusedIdentifier(String)
        case tooIntricate
        case tooLarge
        case fatal(count: Int)
    }

    let reason: Reason
    /// The identifier, if it could be read, so that a participant that waits for it is answered.
    let callID: CallID?
    /// The sender, the recipient and the time of a message that is too large, if they could be read.
    private(set) var people: People?

    struct People: Hashable, Sendable {
        let from: String
        let to: String
        var time: Duration?
    }

    init(_ reason: Reason, callID: CallID? = nil, people: People? = nil) {
        self.reason = reason
        self.callID = callID
        self.people = people
    }

    /// Returns the same refusal, with these people if the message is too large.
    func between(_ people: @autoclosure () -> People) -> MailRefusal {
        guard reason == .tooLarge else { return self }
        var refusal = self
        refusal.people = people()
        return refusal
    }

    /// The answer for a participant that waits for the message: the notice that it is too large, with its sender, else
    /// that there is nothing to show.
    var notice: InboxMessage.Content {
        guard reason == .tooLarge, let people else { return .nothingToShow }
        var notice = InboxMessage.Content.tooLarge(from: Self.shortened(people.from), to: Self.shortened(people.to))
        notice.time = people.time
        return notice
    }

    /// Returns an address as long as fits into any inbox.
    private static func shortened(_ address: String) -> String {
        guard address.utf8.count > addressByteCount else { return address }
        var shown = String.UnicodeScalarView()
        var count = 0
        for scalar in address.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= addressByteCount else { break }
            shown.append(scalar)
        }
        return String(shown) + "…"
    }

    private static let addressByteCount = 256

    /// The folder for the file.
    var folder: SideFolder {
        switch reason {
        case .tooLarge: .oversized
        case .fatal: .poison
        default: .malformed
        }
    }

    /// The reason in words, to follow the name of the file in a sentence.
    var explanation: String {
        switch reason {
        case .empty: "is empty"
        case .unreadable(let cause): "cannot be read (\(cause))"
        case .noMessage: "is not a message of RFC 5322"
        case .noIdentifier: "has neither a Call-ID nor a Message-ID"
        case .identifierTooLong(let maximum): "has an identifier of more than \(maximum) bytes"
        case .nestedTooDeep(let maximum): "has parts nested deeper than \(maximum) levels"
        case .tooIntricate: "has more groups of addresses or parts than any message"
        case .refusedIdentifier(let cause): "has an identifier that the inbox refuses (\(cause))"
        case .tooLarge: "is larger than the inbox can hold"
        case .fatal(let count): "was being read when a process of the core ended, \(count) times"
        }
    }
}
