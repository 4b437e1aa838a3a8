internal import CoreAPI
internal import ProgramOutput

/// The lines in which the store's commands show entries and changes.
enum StoreLine {
    /// `key value revision`.
    static func json(_ entry: Entry) -> JSONObject {
        var line: JSONObject = ["key": .text(entry.key.text)]
        let value = ValueText.fields(entry.value)
        line.append(value.name, value.value)
        line.append("revision", .natural(entry.revision.rawValue))
        return line
    }

    /// Key and value for a person.
    static func text(_ entry: Entry) -> String {
        ValueText.oneLine(entry.key.text) + "\t" + ValueText.oneLine(entry.value)
    }

    /// `kind key value revision`; key and value are null where there is none.
    static func json(kind: String, key: Key?, value: [UInt8]?, revision: Revision) -> JSONObject {
        var line: JSONObject = ["kind": .text(kind), "key": .optional(key?.text)]
        let value = ValueText.fields(value)
        line.append(value.name, value.value)
        line.append("revision", .natural(revision.rawValue))
        return line
    }

    /// The same for a person.
    static func text(kind: String, key: Key?, value: [UInt8]?, revision: Revision) -> String {
        var parts = ["\(revision)", kind]
        if let key { parts.append(ValueText.oneLine(key.text)) }
        if let value { parts.append(ValueText.oneLine(value)) }
        return parts.joined(separator: "\t")
    }
}
