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
    /// A JSON text that somebody else wrote, in one line, as it stands.
    case written(String)

    /// A text, or null where there is none.
    package static func optional(_ text: String?) -> JSONValue {
        text.map { .text($0) } ?? .null
    }

    /// The value as JSON, without a line break. A number that JSON cannot carry, such as an infinity, becomes null.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

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
