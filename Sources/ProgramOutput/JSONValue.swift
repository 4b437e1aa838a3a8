/// A value of a JSON text.
package enum JSONValue: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case natural(UInt64)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object(JSONObject)
    /// A complete JSON text in one line, which is written unchanged.
    case written(String)

    /// Returns a text, or null if there is none.
    package static func optional(_ text: String?) -> JSONValue {
        text.map { .text($0) } ?? .null
    }

    /// Appends the value as JSON, without a line break. A number that JSON cannot carry, such as an infinity, becomes
    /// null.
    func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .flag(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .natural(let value): text += String(value)
        case .number(let value): text += value.isFinite ? value.description : "null"
        case .text(let value): JSONString.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let object): object.write(to: &text)
        case .written(let json): text += json
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    package init(stringLiteral value: String) { self = .text(value) }

    package init(booleanLiteral value: Bool) { self = .flag(value) }

    package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// An object of a JSON text with its fields in the given order.
package struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private struct Field: Hashable, Sendable {
        let name: String
        let value: JSONValue
    }

    private var fields: [Field]

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// Adds a field at the end.
    package mutating func append(_ name: String, _ value: JSONValue) {
        fields.append(Field(name: name, value: value))
    }

    /// The number of fields.
    package var count: Int { fields.count }

    /// The fields in their order. Several may have the same name.
    package var members: [(name: String, value: JSONValue)] { fields.map { ($0.name, $0.value) } }

    /// The value of a field; nil if there is none with that name. Of several, the last one.
    package subscript(name: String) -> JSONValue? {
        fields.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The first name that an earlier field has too, byte by byte; nil if all differ.
    package var repeatedName: String? {
        var names: Set<[UInt8]> = []
        return fields.first { !names.insert(Array($0.name.utf8)).inserted }?.name
    }

    /// The object as one line of JSON, without the line break.
    package var line: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        text += "{"
        for (index, field) in fields.enumerated() {
            if index > 0 { text += "," }
            JSONString.write(field.name, to: &text)
            text += ":"
            field.value.write(to: &text)
        }
        text += "}"
    }
}

/// The string of a JSON text, written so that it never breaks a line.
///
/// Source: RFC 8259, section 7.
enum JSONString {
    static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Control characters must be escaped; others act on readers of lines and terminals.
            case _ where scalar.isCommand:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
