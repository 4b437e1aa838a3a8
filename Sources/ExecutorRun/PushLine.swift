package import Coordination
internal import CoreAPI
internal import ProgramOutput

/// A line of the push socket: any process that may connect can have written it.
///
/// ```
/// PUSH <call-id>
/// {"callID": …, "type": …, "account": …, "payload": <Base64>}
/// ```
package enum PushLine {
    /// The longest line. Each byte of a call-id may be escaped in JSON.
    package static let byteCount = 16 << 10
    /// The bytes that end a line.
    package static let terminator = [UInt8(ascii: "\n")]

    private static let word = "PUSH "
    /// The fields of an object.
    private static let fieldNames = ["callID", "type", "account", "payload"]
    /// The longest part of an unknown field's name that an answer repeats.
    private static let shownNameByteCount = 64

    /// Why a line is not a push. It may name a field of the line and a fault of its value, such as its length, but does
    /// not have the value.
    package struct Invalid: Error {
        package let text: String
    }

    /// Reads a line, without its terminator.
    package static func push(_ line: [UInt8]) throws(Invalid) -> Push {
        let isObject = line.first == UInt8(ascii: "{")
        guard let text = String(validating: line, as: UTF8.self), isObject || line.starts(with: word.utf8) else {
            throw Invalid(text: "A line is PUSH, a space and a call-id, or an object of JSON.")
        }
        if isObject { return try push(object: line) }
        // Some clients end lines with CR LF, as mail does.
        var id = text.utf8.dropFirst(word.utf8.count)
        if id.last == UInt8(ascii: "\r") { id.removeLast() }
        return Push(try callID(Substring(id)))
    }

    private static func push(object line: [UInt8]) throws(Invalid) -> Push {
        let fields = try fields(of: line)
        guard let id = fields["callID"] else {
            throw Invalid(text: "The field “callID” is missing: it has the call-id that the push announces.")
        }
        guard let payload = Base64.decode(fields["payload"] ?? "") else {
            throw Invalid(
                text: "A payload is Base64 (RFC 4648) with its padding; this text of "
                    + "\((fields["payload"] ?? "").utf8.count) bytes is not.")
        }
        let callID = try callID(id)
        do throws(SharedCoreError) {
            return try Push(
                callID, type: fields["type"] ?? Push.defaultType, account: fields["account"] ?? "", payload: payload)
        } catch {
            throw Invalid(text: error.message)
        }
    }

    /// Returns the fields of an object of JSON.
    ///
    /// - Throws: ``Invalid`` that names the first wrong field, and for an unknown one the known fields.
    private static func fields(of line: [UInt8]) throws(Invalid) -> [String: String] {
        // A text with half of a character (an unpaired surrogate) would be read as another text.
        guard let reading = JSONGrammar.read(line), reading.isExact, case .object(let object) = reading.value
        else { throw Invalid(text: "The line begins with { and is not an object of JSON (RFC 8259).") }
        var fields: [String: String] = [:]
        for (name, value) in object.members {
            guard fieldNames.contains(name) else {
                throw Invalid(
                    text: "There is no field “\(ProgramText.oneLine(name, upTo: shownNameByteCount))”; the fields are "
                        + "\(fieldNames.joined(separator: ", ")).")
            }
            guard case .text(let text) = value else {
                throw Invalid(text: "The field “\(name)” must be a text, not \(value.kind).")
            }
            guard fields.updateValue(text, forKey: name) == nil else {
                throw Invalid(text: "The field “\(name)” is given twice.")
            }
        }
        return fields
    }

    private static func callID(_ text: some StringProtocol) throws(Invalid) -> CallID {
        guard let callID = PushID.callID(text) else { throw Invalid(text: PushID.refusal(of: text)) }
        return callID
    }
}

/// The rule for the call-ids of pushes. A call-id must fit into a line of text and into the arguments of a program.
package enum PushID {
    /// The maximum size of an identifier in a mail message.
    package static let maximumByteCount = 998

    package static let expectation =
        "1 to \(maximumByteCount) bytes of UTF-8 without control characters or spaces at its ends"

    /// Returns the rule and how a text breaks it, as a sentence without the text, which may be long or a secret.
    package static func refusal(of text: some StringProtocol) -> String {
        let fault =
            if text.isEmpty {
                "is empty"
            } else if let control = UTF8Bytes.firstControl(in: text) {
                "has the control character \(control)"
            } else if text.utf8.count > maximumByteCount {
                "has \(text.utf8.count) bytes"
            } else {
                "begins or ends with a space"
            }
        return "A call-id is \(expectation); this one \(fault)."
    }

    /// Returns the call-id; nil when a text cannot be one.
    package static func callID(_ text: some StringProtocol) -> CallID? {
        let scalars = text.unicodeScalars
        guard text.utf8.count <= maximumByteCount, scalars.first != " ", scalars.last != " ",
            !scalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return CallID(String(text))
    }
}

extension JSONValue {
    /// The kind of the value, for messages.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .flag: "true or false"
        case .integer, .natural, .number: "a number"
        case .text: "a text"
        case .array: "an array"
        case .object: "an object"
        case .written: "another value"
        }
    }
}
