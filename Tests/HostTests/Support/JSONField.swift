/// The value of a field of a JSON line.
enum JSONField: Decodable, Hashable, Sendable {
    case null
    case flag(Bool)
    case number(UInt64)
    case fraction(Double)
    case text(String)
    case array([JSONField])
    case object([String: JSONField])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            self = .fraction(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONField].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONField].self))
        }
    }
}
