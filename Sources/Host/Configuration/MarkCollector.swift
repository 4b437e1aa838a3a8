internal import ProgramOutput
internal import Yams

/// Walks the nodes of a configuration file: finds where each setting stands, and what does not belong there.
struct MarkCollector {
    let path: String
    private(set) var marks: [String: Mark] = [:]

    private let names = Settings.all.map(\.name)

    init(path: String) {
        self.path = path
    }

    mutating func collect(_ root: Node) throws(CommandFailure) {
        guard case .mapping(let mapping) = root else {
            throw .configuration("\(place(root)): a configuration is a mapping of keys to values, this is not.")
        }
        try collect(mapping, under: "")
    }

    private mutating func collect(_ mapping: Node.Mapping, under prefix: String) throws(CommandFailure) {
        for (key, value) in mapping {
            guard let part = key.string else {
                throw .configuration("\(place(key)): a key must be a text.")
            }
            let name = prefix + part
            if case .mapping(let section) = value, names.contains(where: { $0.hasPrefix(name + ".") }) {
                try collect(section, under: name + ".")
            } else {
                try note(value, of: name, key: key)
            }
        }
    }

    private mutating func note(_ value: Node, of name: String, key: Node) throws(CommandFailure) {
        guard let setting = Settings.all.first(where: { $0.name == name }) else {
            let sections = names.filter { $0.hasPrefix(name + ".") }
            guard sections.isEmpty else {
                throw .configuration(
                    "\(place(value)): “\(name)” is a section; it must hold "
                        + sections.map { "“\($0)”" }.joined(separator: ", ") + ".")
            }
            throw .configuration(
                "\(place(key)): unknown key “\(name)”" + suggestion(for: name))
        }
        guard case .scalar(let scalar) = value else {
            throw .configuration("\(place(value)): “\(name)” takes one value; it must be \(setting.expectation).")
        }
        guard marks[name] == nil else {
            throw .configuration("\(place(key)): “\(name)” is given twice.")
        }
        guard setting.accepts(scalar.string) else {
            throw .wrongValue(scalar.string, of: setting, at: place(value))
        }
        marks[name] = value.mark ?? key.mark
    }

    private func suggestion(for name: String) -> String {
        // A key that was written without its section is the likeliest mistake.
        if let whole = names.first(where: { $0.hasSuffix("." + name) }) { return "; did you mean “\(whole)”?" }
        let sentence = Spelling.suggestion(for: name, among: names + sections)
        return sentence.isEmpty ? "; the keys are \(outline.joined(separator: ", "))." : sentence
    }

    /// The beginnings of keys that have more of them below.
    private var sections: [String] {
        names.flatMap { name in
            let parts = name.split(separator: ".")
            return parts.indices.dropFirst().map { parts[..<$0].joined(separator: ".") }
        }
    }

    /// The keys, where they have many parts only the first two.
    private var outline: [String] {
        var seen: Set<String> = []
        return names.map { $0.split(separator: ".").prefix(2).joined(separator: ".") }.filter {
            seen.insert($0).inserted
        }
    }

    private func place(_ node: Node) -> String {
        node.mark.map { "\(path):\($0.line):\($0.column)" } ?? path
    }
}

extension Node {
    /// Whether a document says nothing: it is empty, or all comments.
    var isNothing: Bool {
        scalar.map { $0.string.isEmpty || $0.string == "null" || $0.string == "~" } ?? false
    }
}
