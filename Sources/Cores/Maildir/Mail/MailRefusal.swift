internal import Coordination

/// Why a file is set aside instead of being delivered.
struct MailRefusal: Error, Hashable, Sendable {
    /// What is wrong with it.
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
    }

    let reason: Reason
    /// The identifier, when it could be read all the same: whoever waits for it must not wait in vain.
    let callID: CallID?

    init(_ reason: Reason, callID: CallID? = nil) {
        self.reason = reason
        self.callID = callID
    }

    /// Where the file goes.
    var folder: SideFolder {
        reason == .tooLarge ? .oversized : .malformed
    }

    /// What is wrong, to follow the name of the file in a sentence.
    var explanation: String {
        switch reason {
        case .empty: "is empty"
        case .unreadable(let cause): "cannot be read (\(cause))"
        case .noMessage: "is not a message of RFC 5322"
        case .noIdentifier: "has neither a Call-ID nor a Message-ID"
        case .identifierTooLong(let maximum): "has an identifier of more than \(maximum) bytes"
        case .nestedTooDeep(let maximum): "has parts nested deeper than \(maximum) levels"
        case .tooIntricate: "has more headers, addresses or parts than any message"
        case .refusedIdentifier(let cause): "has an identifier that the inbox refuses (\(cause))"
        case .tooLarge: "is larger than the inbox can hold"
        }
    }
}
