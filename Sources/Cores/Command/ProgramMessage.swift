internal import CoreAPI
internal import ProgramOutput

/// A line of a core's program: a request, or the answer to one.
///
/// Source: JSON-RPC 2.0, https://www.jsonrpc.org/specification.
enum ProgramMessage {
    case request(ProgramRequest)
    case answer(id: JSONValue, Result<JSONObject, Refusal>)

    /// The maximum nesting of lists and objects: they are parsed on a thread with a small stack.
    static let maximumDepth = 64

    /// Reads a line.
    ///
    /// - Throws: If it is not a message: then the following lines cannot be trusted either.
    init(_ line: [UInt8]) throws(CommandCoreError) {
        guard let reading = JSONGrammar.read(line, maximumDepth: Self.maximumDepth),
            case .object(let object) = reading.value, object["jsonrpc"] == .text("2.0")
        else { throw Self.malformed(line) }
        // A repeated id or repeated parameters could mean either of two requests.
        guard object.repeatedName == nil else { throw Self.malformed(line) }
        let id = object["id"] ?? .null
        switch id {
        case .null, .integer, .natural, .text: break
        default: throw Self.malformed(line)
        }
        if let method = object["method"] {
            guard case .text(let name) = method else { throw Self.malformed(line) }
            self = .request(
                ProgramRequest(
                    id: id, method: name, parameters: object["params"], isExact: reading.isExact,
                    repeatedName: reading.repeatedName, byteCount: line.count))
        } else if case .object(let error) = object["error"] {
            self = .answer(id: id, .failure(Refusal(error)))
        } else if let result = object["result"] {
            // A result that is not an object has no useful values.
            guard case .object(let members) = result else {
                self = .answer(id: id, .success([:]))
                return
            }
            self = .answer(id: id, .success(members))
        } else {
            throw Self.malformed(line)
        }
    }

    /// How many bytes of an invalid line an error message shows.
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

    /// Returns the line of a request to the program.
    static func request(_ method: String, _ parameters: JSONObject, id: Int64) -> [UInt8] {
        line(["jsonrpc": "2.0", "id": .integer(id), "method": .text(method), "params": .object(parameters)])
    }

    /// Returns the line of an answer to the program.
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
    /// True if the decoded texts are exactly those that the program printed. False if they contained an unpaired
    /// surrogate.
    let isExact: Bool
    /// A name that an object of the parameters contains twice; nil if there is none.
    let repeatedName: String?
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
        // An invalid argument has the same number as a parameter that the core itself refuses.
        number = error.code == .invalidArgument ? -32602 : -32000
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
