/// Names and values in the form that Prometheus takes.
enum PrometheusName {
    /// The name of a metric: letters, digits, `_` and `:`.
    static func metric(_ text: String) -> String { name(text, mayHave: ":") }

    /// The name of a label: letters, digits and `_`.
    static func label(_ text: String) -> String { name(text, mayHave: "_") }

    /// The value of a label.
    static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func name(_ text: String, mayHave extra: Character) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == extra ? $0 : "_" })
        if name.first.map({ $0.isNumber }) ?? true { name = "_" + name }
        return name
    }
}
