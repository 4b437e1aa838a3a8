internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// The parameters of a request. Unknown members are ignored, and a member that is null counts as missing.
struct Parameters {
    private let object: JSONObject
    /// True if the decoded texts are exactly those that the program printed. False if they contained an unpaired
    /// surrogate, which is decoded as U+FFFD.
    private let isExact: Bool

    init(_ value: JSONValue?, isExact: Bool = true) throws(Refusal) {
        self.isExact = isExact
        switch value {
        case nil, .null: object = [:]
        case .object(let object): self.object = object
        default: throw .wrongParameters("“params” must be an object.")
        }
    }

    func text(_ name: String) throws(Refusal) -> String {
        guard let text = try optionalText(name) else { throw .wrongParameters("“\(name)” must be a text.") }
        return text
    }

    /// Returns a text that identifies something. Refuses a lone surrogate: it is decoded as U+FFFD, so two different
    /// names would become equal.
    func identifier(_ name: String) throws(Refusal) -> String {
        let text = try text(name)
        try requireExact(text, name)
        return text
    }

    private func requireExact(_ text: String, _ name: String) throws(Refusal) {
        guard isExact || !text.unicodeScalars.contains("\u{fffd}") else {
            throw .wrongParameters("“\(name)” has half of a character (a lone surrogate), which no text can have.")
        }
    }

    func optionalText(_ name: String) throws(Refusal) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .text(let text): return text
        default: throw .wrongParameters("“\(name)” must be a text.")
        }
    }

    /// Returns decoded Base64; no bytes if the member is missing.
    func bytes(_ name: String) throws(Refusal) -> [UInt8] {
        guard let text = try optionalText(name) else { return [] }
        guard let bytes = Base64.decode(text) else {
            throw .wrongParameters("“\(name)” must be Base64 with its padding.")
        }
        return bytes
    }

    /// Returns texts by their names; none if the member is missing.
    func texts(_ name: String) throws(Refusal) -> [String: String] {
        let wrong = Refusal.wrongParameters("“\(name)” must be an object of texts.")
        switch object[name] {
        case nil, .null: return [:]
        case .object(let object):
            var texts: [String: String] = [:]
            for (member, value) in object.members {
                guard case .text(let text) = value else { throw wrong }
                try requireExact(member, name)
                texts[member] = text
            }
            return texts
        default: throw wrong
        }
    }

    /// Returns the value that a word of the table names.
    func word<Value>(_ name: String, of words: KeyValuePairs<String, Value>) throws(Refusal) -> Value {
        guard let value = try optionalWord(name, of: words) else {
            throw .wrongParameters(Self.needed(name, words))
        }
        return value
    }

    /// Returns one of a set of words; nil if the member is missing.
    func optionalWord<Value>(_ name: String, of words: KeyValuePairs<String, Value>) throws(Refusal)
        -> Value?
    {
        guard let text = try optionalText(name) else { return nil }
        guard let (_, value) = words.first(where: { $0.key == text }) else {
            throw .wrongParameters(Self.needed(name, words))
        }
        return value
    }

    /// Returns several of a set of words; nil if the member is missing.
    func words<Value>(_ name: String, of words: KeyValuePairs<String, Value>) throws(Refusal)
        -> [Value]?
    {
        let wrong = Refusal.wrongParameters("“\(name)” must be a list of " + Self.joined(words) + ".")
        switch object[name] {
        case nil, .null: return nil
        case .array(let list):
            var values: [Value] = []
            for element in list {
                guard case .text(let text) = element,
                    let (_, value) = words.first(where: { $0.key == text })
                else {
                    throw wrong
                }
                values.append(value)
            }
            return values
        default: throw wrong
        }
    }

    private static func needed(_ name: String, _ words: KeyValuePairs<String, some Any>) -> String {
        "“\(name)” must be \(joined(words))."
    }

    private static func joined(_ words: KeyValuePairs<String, some Any>) -> String {
        words.map(\.key).joined(separator: ", ")
    }

    /// Returns a duration in whole milliseconds; nil if the member is missing.
    func milliseconds(_ name: String) throws(Refusal) -> Duration? {
        // At most a hundred years, so that the sum of two durations in nanoseconds fits into 64 bits.
        try milliseconds(name, in: 0...3_153_600_000_000)
    }

    /// Returns a time since the beginning of 1970 in whole milliseconds, with any sign; nil if the member is missing.
    func time(_ name: String) throws(Refusal) -> Duration? {
        try milliseconds(name, in: .min ... .max)
    }

    private func milliseconds(_ name: String, in range: ClosedRange<Int64>) throws(Refusal) -> Duration? {
        switch object[name] {
        case nil, .null: return nil
        case .integer(let count) where range.contains(count): return .milliseconds(count)
        default: throw .wrongParameters("“\(name)” must be a number of milliseconds.")
        }
    }
}

/// A request of the program, with its parameters checked.
enum ProgramCall {
    case deliver(InboxMessage)
    case update(InboxMessage)
    case withdraw(MessageID)
    case beginActivity(Activity.Kind, id: String, expectedEnd: Duration?)
    case endActivity(name: String, id: String)
    case beginCall(CallDescription, in: Call.State)
    case changeCall(CallID, to: Call.State?, media: Call.Media?)
    case report(String)

    /// The names of all requests. `start` contains them, so that a program can see which later ones are supported.
    static let methods = [
        "deliver", "update", "withdraw", "beginActivity", "endActivity", "beginCall", "changeCall", "endCall", "report",
    ]

    init(_ request: ProgramRequest) throws(Refusal) {
        if let name = request.repeatedName {
            throw .wrongParameters("“params” has “\(ProgramText.oneLine(name, upTo: 64))” twice.")
        }
        let parameters = try Parameters(request.parameters, isExact: request.isExact)
        switch request.method {
        case "deliver": self = .deliver(try Self.message(parameters))
        case "update": self = .update(try Self.message(parameters))
        case "withdraw": self = .withdraw(try Self.messageID(parameters))
        case "beginActivity":
            self = .beginActivity(
                try Self.kind(parameters), id: try parameters.identifier("id"),
                expectedEnd: try parameters.milliseconds("expectedEndMs"))
        case "endActivity":
            self = .endActivity(name: try parameters.identifier("kind"), id: try parameters.identifier("id"))
        case "beginCall":
            self = .beginCall(
                try Self.description(parameters),
                in: try parameters.optionalWord("state", of: Self.states) ?? .incoming)
        case "changeCall":
            let state = try parameters.optionalWord("state", of: Self.states)
            let media = try Self.media(parameters)
            guard state != nil || media != nil else { throw .wrongParameters("“state” or “media” is needed.") }
            self = .changeCall(try Self.callID(parameters), to: state, media: media)
        case "endCall":
            self = .changeCall(
                try Self.callID(parameters), to: .ended(try Self.endReason(parameters)), media: nil)
        case "report": self = .report(try parameters.text("problem"))
        default: throw .unknownMethod(request.method)
        }
    }

    private static func callID(_ parameters: Parameters) throws(Refusal) -> CallID {
        guard let callID = CallID(try parameters.identifier("callID")) else {
            throw .wrongParameters("“callID” must not be empty.")
        }
        return callID
    }

    private static func messageID(_ parameters: Parameters) throws(Refusal) -> MessageID {
        let callID = try callID(parameters)
        guard let sequence = try parameters.optionalText("sequence") else { return MessageID(callID) }
        guard let id = MessageID(callID, sequence: sequence) else {
            throw .wrongParameters("“sequence” must be 1 to 64 of A-Z, a-z, 0-9, “-”, “.” and “_”.")
        }
        return id
    }

    private static func message(_ parameters: Parameters) throws(Refusal) -> InboxMessage {
        let id = try messageID(parameters)
        var content = try content(parameters)
        content.account = try parameters.optionalText("account")
        content.conversation = try parameters.optionalText("conversation")
        content.time = try parameters.time("timeMs")
        content.contentType = try parameters.optionalText("contentType")
        content.body = try parameters.bytes("body")
        content.fields = try parameters.texts("fields")
        if let problem = content.problem { throw .wrongParameters(problem) }
        return InboxMessage(id: id, content: content)
    }

    private static func content(_ parameters: Parameters) throws(Refusal) -> InboxMessage.Content {
        let kind = try parameters.optionalText("kind") ?? "text"
        switch kind {
        case "text":
            return .text(
                from: try parameters.text("from"), to: try parameters.text("to"), text: try parameters.text("text"))
        case "invitation":
            return .invitation(
                from: try parameters.text("from"), subject: try parameters.text("subject"),
                localAddress: try parameters.text("localAddress"))
        case "too-large": return .tooLarge(from: try parameters.text("from"), to: try parameters.text("to"))
        case "nothing": return .nothingToShow
        default: break
        }
        guard let kind = InboxMessage.Kind(kind) else {
            throw .wrongParameters(
                "“kind” must be text, invitation, too-large, nothing, or 1 to 64 of a-z, 0-9, “-” and “.”.")
        }
        return InboxMessage.Content(
            kind: kind, sender: try parameters.optionalText("from") ?? "",
            recipient: try parameters.optionalText("to") ?? "", text: try parameters.optionalText("text") ?? "")
    }

    private static func kind(_ parameters: Parameters) throws(Refusal) -> Activity.Kind {
        let name = try parameters.identifier("kind")
        if name == Activity.Kind.call.name { return .call }
        if name == Activity.Kind.transfer.name { return .transfer }
        guard let bound = try parameters.milliseconds("boundMs") else {
            throw .wrongParameters("A “kind” that is neither call nor transfer needs “boundMs”.")
        }
        return .custom(name, bound: bound)
    }

    // MARK: - Calls

    private static var states: KeyValuePairs<String, Call.State> {
        [
            "incoming": .incoming, "ringing": .ringing, "answered": .answered, "held": .held,
            "remotelyHeld": .remotelyHeld,
        ]
    }

    private static func media(_ parameters: Parameters) throws(Refusal) -> Call.Media? {
        try parameters.words("media", of: ["audio": Call.Media.audio, "video": .video]).map { Call.Media($0) }
    }

    private static func description(_ parameters: Parameters) throws(Refusal) -> CallDescription {
        let description = CallDescription(
            try callID(parameters),
            try parameters.word(
                "direction", of: ["incoming": Call.Direction.incoming, "outgoing": .outgoing]),
            from: try parameters.text("from"), to: try parameters.text("to"),
            account: try parameters.optionalText("account") ?? "",
            media: try media(parameters) ?? .audio)
        if let problem = description.problem { throw .wrongParameters(problem) }
        return description
    }

    private static func endReason(_ parameters: Parameters) throws(Refusal) -> Call.EndReason {
        // A program cannot report “lost”: only the group detects that.
        let reason = try parameters.word(
            "reason",
            of: [
                "hungUp": Call.EndReason.hungUp, "remoteHungUp": .remoteHungUp, "declined": .declined,
                "missed": .missed, "answeredElsewhere": .answeredElsewhere, "busy": .busy,
                "failed": .failed(""),
            ])
        guard reason == .failed("") else { return reason }
        let text = try parameters.optionalText("text") ?? ""
        guard text.utf8.count <= CallDescription.maximumReasonByteCount else {
            throw .wrongParameters("“text” has at most \(CallDescription.maximumReasonByteCount) bytes.")
        }
        return .failed(text)
    }
}
