internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// A line of a core's program: a request, or the answer to one.
///
/// Source: JSON-RPC 2.0, https://www.jsonrpc.org/specification.
enum ProgramMessage {
    case request(ProgramRequest)
    case answer(id: JSONValue, Result<JSONObject, Refusal>)

    /// The deepest that lists and objects may stand in each other: they are read on a thread with a small stack.
    static let maximumDepth = 64

    /// Reads a line.
    ///
    /// - Throws: Where it is no message, so that nothing that follows can be believed.
    init(_ line: [UInt8]) throws(CommandCoreError) {
        guard case .object(let object) = JSONGrammar.value(of: line, maximumDepth: Self.maximumDepth),
            object["jsonrpc"] == .text("2.0")
        else { throw Self.malformed(line) }
        let id = object["id"] ?? .null
        switch id {
        case .null, .integer, .natural, .number, .text: break
        default: throw Self.malformed(line)
        }
        if let method = object["method"] {
            guard case .text(let name) = method else { throw Self.malformed(line) }
            self = .request(ProgramRequest(id: id, method: name, parameters: object["params"], byteCount: line.count))
        } else if case .object(let error) = object["error"] {
            self = .answer(id: id, .failure(Refusal(error)))
        } else if let result = object["result"] {
            // A result that is no object says nothing that is asked for.
            guard case .object(let members) = result else {
                self = .answer(id: id, .success([:]))
                return
            }
            self = .answer(id: id, .success(members))
        } else {
            throw Self.malformed(line)
        }
    }

    /// How much of a wrong line people are shown.
    private static let shownByteCount = 80

    static func malformed(_ line: some Collection<UInt8>) -> CommandCoreError {
        CommandCoreError(.malformed, "the program printed what is no message of JSON-RPC 2.0: “\(shown(line))”")
    }

    static func tooLong(_ line: some Collection<UInt8>, limit: Int) -> CommandCoreError {
        CommandCoreError(.tooLong, "the program printed a line of more than \(limit) bytes: “\(shown(line))”")
    }

    private static func shown(_ line: some Collection<UInt8>) -> String {
        ProgramText.escaped(Array(line.prefix(shownByteCount))) + (line.count > shownByteCount ? "…" : "")
    }

    /// The line of a request to the program.
    static func request(_ method: String, _ parameters: JSONObject, id: Int64) -> [UInt8] {
        line(["jsonrpc": "2.0", "id": .integer(id), "method": .text(method), "params": .object(parameters)])
    }

    /// The line of an answer to the program.
    static func answer(_ outcome: Result<JSONObject, Refusal>, to id: JSONValue) -> [UInt8] {
        switch outcome {
        case .success(let result): line(["jsonrpc": "2.0", "id": id, "result": .object(result)])
        case .failure(let refusal): line(["jsonrpc": "2.0", "id": id, "error": .object(refusal.object)])
        }
    }

    private static func line(_ object: JSONObject) -> [UInt8] { Array((object.line + "\n").utf8) }
}

/// A request of the program.
struct ProgramRequest: Sendable {
    /// Null for a notification, which is not answered.
    let id: JSONValue
    let method: String
    let parameters: JSONValue?
    /// The length of its line.
    let byteCount: Int
}

/// Why a request is not fulfilled.
struct Refusal: Error, Hashable, Sendable {
    /// The number after JSON-RPC 2.0, section 5.1.
    let number: Int64
    let message: String
    /// The code of a ``SharedCoreError``.
    var code: String?

    init(_ error: SharedCoreError) {
        number = -32000
        message = error.message
        code = "\(error.code)"
    }

    private init(_ number: Int64, _ message: String) {
        self.number = number
        self.message = message
    }

    static func unknownMethod(_ name: String) -> Refusal {
        Refusal(-32601, "“\(ProgramText.oneLine(name, upTo: 64))” is no method of this version.")
    }

    static func wrongParameters(_ message: String) -> Refusal { Refusal(-32602, message) }

    /// Reads one of the program's.
    init(_ error: JSONObject) {
        if case .text(let text) = error["message"] { message = text } else { message = "no message" }
        if case .integer(let number) = error["code"] { self.number = number } else { number = 0 }
    }

    var object: JSONObject {
        var object: JSONObject = ["code": .integer(number), "message": .text(message)]
        if let code { object.append("data", .object(["code": .text(code)])) }
        return object
    }
}

/// The parameters of a request. Members that this version does not know are passed over.
struct Parameters {
    private let object: JSONObject

    init(_ value: JSONValue?) throws(Refusal) {
        switch value {
        case nil, .null: object = [:]
        case .object(let object): self.object = object
        default: throw .wrongParameters("“params” must be an object.")
        }
    }

    func text(_ name: String) throws(Refusal) -> String {
        guard case .text(let text) = object[name] else { throw .wrongParameters("“\(name)” must be a text.") }
        return text
    }

    /// A duration in whole milliseconds; nil where it is missing or null.
    func milliseconds(_ name: String) throws(Refusal) -> Duration? {
        switch object[name] {
        case nil, .null: return nil
        // A hundred years, so that no sum of two leaves 64 bits of nanoseconds.
        case .integer(let count) where 0...3_153_600_000_000 ~= count: return .milliseconds(count)
        default: throw .wrongParameters("“\(name)” must be a number of milliseconds.")
        }
    }
}

/// What the program asks for.
enum ProgramCall {
    case deliver(InboxMessage)
    case beginActivity(Activity.Kind, id: String, expectedEnd: Duration?)
    case endActivity(name: String, id: String)
    case report(String)

    init(_ request: ProgramRequest) throws(Refusal) {
        let parameters = try Parameters(request.parameters)
        switch request.method {
        case "deliver": self = .deliver(try Self.message(parameters))
        case "beginActivity":
            self = .beginActivity(
                try Self.kind(parameters), id: try parameters.text("id"),
                expectedEnd: try parameters.milliseconds("expectedEndMs"))
        case "endActivity":
            self = .endActivity(name: try parameters.text("kind"), id: try parameters.text("id"))
        case "report": self = .report(try parameters.text("problem"))
        default: throw .unknownMethod(request.method)
        }
    }

    private static func message(_ parameters: Parameters) throws(Refusal) -> InboxMessage {
        guard let callID = CallID(try parameters.text("callID")) else {
            throw .wrongParameters("“callID” must not be empty.")
        }
        let content: InboxMessage.Content
        switch try parameters.text("kind") {
        case "text":
            content = .text(
                from: try parameters.text("from"), to: try parameters.text("to"), text: try parameters.text("text"))
        case "invitation":
            content = .invitation(
                from: try parameters.text("from"), subject: try parameters.text("subject"),
                localAddress: try parameters.text("localAddress"))
        case "tooLarge": content = .tooLarge(from: try parameters.text("from"), to: try parameters.text("to"))
        case "nothing": content = .nothingToShow
        default: throw .wrongParameters("“kind” must be text, invitation, tooLarge or nothing.")
        }
        return InboxMessage(callID: callID, content: content)
    }

    private static func kind(_ parameters: Parameters) throws(Refusal) -> Activity.Kind {
        let name = try parameters.text("kind")
        if name == Activity.Kind.call.name { return .call }
        if name == Activity.Kind.transfer.name { return .transfer }
        guard let bound = try parameters.milliseconds("boundMs") else {
            throw .wrongParameters("A “kind” that is neither call nor transfer needs “boundMs”.")
        }
        return .custom(name, bound: bound)
    }
}
