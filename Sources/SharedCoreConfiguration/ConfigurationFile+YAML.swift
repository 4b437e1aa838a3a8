internal import PluginBackend

extension ConfigurationFile {
    /// Parses the bytes of a file: YAML, or JSON (which is YAML).
    ///
    /// - Throws: For a file that is not a mapping of YAML or JSON.
    package init(path: String, content: [UInt8]) throws(ConfigurationFailure) {
        guard content.count <= Self.maximumByteCount else {
            throw ConfigurationFailure(
                at: path, "a configuration file has at most \(Self.maximumByteCount) bytes.")
        }
        guard String(validating: content, as: UTF8.self) != nil else {
            throw ConfigurationFailure(at: path, "a configuration file is UTF-8, this one is not.")
        }
        let root: YAMLNode?
        do throws(YAMLFailure) {
            root = try YAMLNode.root(of: content, depth: Self.depth)
        } catch {
            throw error.failure(of: path)
        }
        var reader = ConfigurationReader(path: path)
        if let root, !root.isNothing { try reader.read(root) }
        self.init(
            path: path, values: reader.values, positions: reader.positions, failures: reader.failures,
            others: reader.others)
    }

    /// The nesting limit. Settings are in sections, two levels at most.
    private static let depth = 8
}

/// Walks the nodes of a configuration file: collects the value and the place of each setting, and the failures.
private struct ConfigurationReader {
    let path: String
    private(set) var values: [String: String] = [:]
    private(set) var positions: [String: ConfigurationFile.Position] = [:]
    private(set) var failures: [ConfigurationFailure] = []
    private(set) var others: [ConfigurationFile.Other] = []

    private let names = Settings.all.map(\.name)

    init(path: String) {
        self.path = path
    }

    mutating func read(_ root: YAMLNode) throws(ConfigurationFailure) {
        guard case .mapping(let pairs) = root.content else {
            throw ConfigurationFailure(
                at: place(root), "a configuration is a mapping of keys to values, this is not.")
        }
        read(pairs, under: "")
    }

    private mutating func read(_ pairs: [(key: YAMLNode, value: YAMLNode)], under prefix: String) {
        var sections: Set<String> = []
        for (key, value) in pairs {
            guard let part = key.scalar else {
                failures.append(ConfigurationFailure(at: place(key), "a key must be a text."))
                continue
            }
            let name = prefix + part
            if case .mapping(let section) = value.content, names.contains(where: { $0.hasPrefix(name + ".") }) {
                if sections.insert(name).inserted {
                    read(section, under: name + ".")
                } else {
                    failures.append(ConfigurationFailure(at: place(key), "“\(name)” is given twice."))
                }
                continue
            }
            if prefix.isEmpty, noteOther(value, of: name, key: key) { continue }
            do throws(ConfigurationFailure) {
                try note(value, of: name, key: key)
            } catch {
                failures.append(error)
            }
        }
    }

    /// Records a section that could belong to a plugin, or a key of one: `redis: {url: …}` or `redis.url: …`.
    ///
    /// - Returns: True if it could.
    private mutating func noteOther(_ value: YAMLNode, of name: String, key: YAMLNode) -> Bool {
        let section = name.prefix { $0 != "." }
        guard BackendPlugin.isName(String(section)),
            !names.contains(where: { $0 == section || $0.hasPrefix(section + ".") })
        else { return false }
        let failure = ConfigurationFailure.unknownKey(name, at: place(key))
        if case .mapping(let pairs) = value.content, section.count == name.count {
            // A mapping without a key says nothing that a plugin could want.
            guard pairs.contains(where: { $0.key.scalar != nil }) else { return false }
            for (key, value) in pairs {
                let name = key.scalar.map { "\(name).\($0)" }
                if let name, let text = value.scalar {
                    add(text, at: value, as: name, of: key, failure)
                } else if let name {
                    failures.append(ConfigurationFailure(at: place(value), "“\(name)” takes one value."))
                } else {
                    failures.append(ConfigurationFailure(at: place(key), "a key must be a text."))
                }
            }
            return true
        }
        guard section.count < name.count, let text = value.scalar else { return false }
        add(text, at: value, as: name, of: key, failure)
        return true
    }

    private mutating func add(
        _ text: String, at node: YAMLNode, as name: String, of key: YAMLNode, _ failure: ConfigurationFailure
    ) {
        if others.contains(where: { $0.name == name }) {
            failures.append(ConfigurationFailure(at: place(node), "“\(name)” is given twice."))
        }
        others.append(.init(name: name, text: text, place: place(key), failure: failure))
        positions[name] = node.position
    }

    private mutating func note(_ value: YAMLNode, of name: String, key: YAMLNode) throws(ConfigurationFailure) {
        guard let setting = Settings.all.first(where: { $0.name == name }) else {
            let sections = names.filter { $0.hasPrefix(name + ".") }
            guard sections.isEmpty else {
                throw ConfigurationFailure(
                    at: place(value),
                    "“\(name)” is a section; it must hold " + sections.map { "“\($0)”" }.joined(separator: ", ") + ".")
            }
            throw .unknownKey(name, at: place(key))
        }
        guard let text = value.scalar else {
            throw ConfigurationFailure(
                at: place(value), "“\(name)” takes one value; it must be \(setting.expectation).")
        }
        guard values[name] == nil else {
            throw ConfigurationFailure(at: place(key), "“\(name)” is given twice.")
        }
        guard setting.accepts(text) else { throw .wrongValue(text, of: setting, at: place(value)) }
        values[name] = text
        positions[name] = value.position
    }

    private func place(_ node: YAMLNode) -> String {
        "\(path):\(node.position.line):\(node.position.column)"
    }
}

extension YAMLNode {
    /// True if the document has no content: it is empty, or has only comments.
    fileprivate var isNothing: Bool { scalar.map { ["", "null", "~"].contains($0) } ?? false }
}

extension YAMLFailure {
    /// Returns the failure of a file, with its place.
    fileprivate func failure(of path: String) -> ConfigurationFailure {
        let place = position.map { "\(path):\($0.line):\($0.column)" } ?? path
        return isAlias
            ? ConfigurationFailure(at: place, "a configuration cannot contain an alias of YAML; write the value.")
            : ConfigurationFailure(at: place, "the file is neither YAML nor JSON: \(problem).")
    }
}

extension ConfigurationSearch {
    /// Reads the file; nil if none was named and none exists.
    ///
    /// - Throws: Also for the first of its ``ConfigurationFile/failures``.
    package func read() throws(ConfigurationFailure) -> ConfigurationFile? {
        let file = try readWithFailures()
        if let failure = file?.failures.first { throw failure }
        return file
    }

    /// Reads the file as ``read()`` does, even if it has ``ConfigurationFile/failures``.
    package func readWithFailures() throws(ConfigurationFailure) -> ConfigurationFile? {
        guard let (path, content) = try find() else { return nil }
        var file = try ConfigurationFile(path: path, content: content)
        file.isNamed = isNamed
        return file
    }
}
