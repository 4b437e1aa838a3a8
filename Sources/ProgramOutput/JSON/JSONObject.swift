/// An object of a JSON text whose fields keep the order in which they were given, as a person reads them.
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
