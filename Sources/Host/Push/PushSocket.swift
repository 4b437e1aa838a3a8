internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The socket at which the host takes pushes, a line each:
///
/// ```
/// PUSH <call-id>\n   ->   OK <revision>\n   |   ERROR <code> <text>\n
/// {"callID": …, "type": …, "account": …, "payload": <Base64>}\n   ->   the same
/// ```
enum PushSocket {
    private static let word = "PUSH "
    /// The longest line. Each byte of a call-id may be escaped in JSON.
    private static let lineByteCount = 16 << 10

    /// Begins to listen. The caller must be the group's host: an earlier listener at the path belonged to an earlier
    /// host.
    static func start(at path: String, _ queue: PushQueue) throws(SystemCallError) -> RequestServer {
        try RequestServer.start("push-socket", at: StreamListener(path: path), rules: rules) { line in
            await answer(String(validating: line, as: UTF8.self), queue)
        }
    }

    static let rules = RequestServer.Rules(
        terminator: [UInt8(ascii: "\n")], requestByteCount: lineByteCount, isPersistent: true,
        user: FileStatus.currentUser,
        tooLong: error("tooLong", "A line has at most \(lineByteCount) bytes."),
        busy: error("busy", "Too many are connected."))

    static func answer(_ line: String?, _ queue: PushQueue) async -> [UInt8] {
        let push: Push
        do throws(Invalid) {
            push = try Self.push(line)
        } catch {
            return Self.error("invalid", error.text)
        }
        do throws(SharedCoreError) {
            return Array("OK \(try await queue.send(push))\n".utf8)
        } catch {
            return Self.error("\(error.code)", error.text())
        }
    }

    /// Why a line is not a push. It may name a field of the line, but has no value of one.
    private struct Invalid: Error {
        let text: String
    }

    private static func push(_ line: String?) throws(Invalid) -> Push {
        guard let line, line.startsWithBytes(of: word) || line.startsWithBytes(of: "{") else {
            throw Invalid(text: "A line is PUSH, a space and a call-id, or an object of JSON.")
        }
        if line.startsWithBytes(of: "{") { return try push(json: line) }
        // Some clients end lines with CR LF, as mail does.
        var text = line.utf8.dropFirst(word.utf8.count)
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        return Push(try callID(Substring(text)))
    }

    /// The fields of an object.
    private static let fieldNames = ["callID", "type", "account", "payload"]
    /// The longest part of an unknown field's name that an answer repeats.
    private static let shownNameByteCount = 64

    /// Returns the fields of an object of JSON.
    ///
    /// - Throws: ``Invalid`` that names the first wrong field, and for an unknown one the known fields.
    private static func fields(of line: String) throws(Invalid) -> [String: String] {
        // A text with half of a character (an unpaired surrogate) would be read as another text.
        guard let reading = JSONGrammar.read(Array(line.utf8)), reading.isExact,
            case .object(let object) = reading.value
        else { throw Invalid(text: "The line begins with { and is not an object of JSON (RFC 8259).") }
        var fields: [String: String] = [:]
        for (name, value) in object.members {
            guard fieldNames.contains(name) else {
                throw Invalid(
                    text: "There is no field “\(ProgramText.oneLine(name, upTo: shownNameByteCount))”; the fields are "
                        + "\(fieldNames.joined(separator: ", ")).")
            }
            guard case .text(let text) = value else { throw Invalid(text: "The field “\(name)” must be a text.") }
            guard fields.updateValue(text, forKey: name) == nil else {
                throw Invalid(text: "The field “\(name)” is given twice.")
            }
        }
        return fields
    }

    private static func push(json line: String) throws(Invalid) -> Push {
        let fields = try fields(of: line)
        guard let id = fields["callID"] else {
            throw Invalid(text: "The field “callID” is missing: it has the call-id that the push announces.")
        }
        guard let payload = Base64.decode(fields["payload"] ?? "") else {
            throw Invalid(text: "A payload is Base64 (RFC 4648) with its padding.")
        }
        let callID = try callID(id)
        do throws(SharedCoreError) {
            return try Push(
                callID, type: fields["type"] ?? Push.defaultType, account: fields["account"] ?? "", payload: payload)
        } catch {
            throw Invalid(text: error.message)
        }
    }

    private static func callID(_ text: some StringProtocol) throws(Invalid) -> CallID {
        guard let callID = PushID.callID(text) else { throw Invalid(text: "A call-id is \(PushID.expectation).") }
        return callID
    }

    private static func error(_ code: String, _ text: String) -> [UInt8] {
        Array("ERROR \(code) \(ValueText.oneLine(text))\n".utf8)
    }
}
