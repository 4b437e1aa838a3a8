internal import ConfigurationResolution
internal import Yams

extension ConfigurationFile {
    /// Understands the bytes of a file: YAML, or JSON (which is YAML).
    ///
    /// - Throws: For a file that is no mapping of YAML or JSON.
    package init(path: String, content: [UInt8]) throws(ConfigurationFailure) {
        guard content.count <= Self.maximumByteCount else {
            throw ConfigurationFailure(
                at: path, "a configuration file has at most \(Self.maximumByteCount) bytes.")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw ConfigurationFailure(at: path, "a configuration file is UTF-8, this one is not.")
        }
        do {
            try Self.refuseAliases(in: text)
            var reader = ConfigurationReader(path: path)
            if let root = try Parser(yaml: text).singleRoot(), !root.isNothing { try reader.read(root) }
            self.init(
                path: path, values: reader.values,
                positions: reader.marks.mapValues { Position(line: $0.line, column: $0.column) },
                failures: reader.failures)
        } catch let failure as ConfigurationFailure {
            throw failure
        } catch let error as YamlError {
            throw error.failure(of: path)
        } catch {
            throw ConfigurationFailure(at: path, "cannot be understood: \(error)")
        }
    }

    /// Refuses aliases (`*name`). The parser compares keys by all that they stand for, and aliases of aliases multiply that:
    /// nine levels of nine are 387 million nodes. So it reads the text without anchors (`&name`) first, where each alias is
    /// undefined.
    private static func refuseAliases(in text: String) throws {
        var bytes = Array(text.utf8)
        var isAnchor = false
        for index in bytes.indices {
            let isBeginning = bytes[index] == UInt8(ascii: "&")
            isAnchor = isBeginning || (isAnchor && isAnchorByte(bytes[index]))
            if isAnchor { bytes[index] = UInt8(ascii: " ") }
        }
        let bare = String(decoding: bytes, as: UTF8.self)
        if bare != text { _ = try Parser(yaml: bare).singleRoot() }
    }

    /// Whether a byte belongs to the name of an anchor, as libyaml reads it.
    private static func isAnchorByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// Walks the nodes of a configuration file: takes the value and the place of each setting, and notes what does not belong
/// there.
private struct ConfigurationReader {
    let path: String
    private(set) var values: [String: String] = [:]
    private(set) var marks: [String: Mark] = [:]
    private(set) var failures: [ConfigurationFailure] = []

    private let names = Settings.all.map(\.name)

    init(path: String) {
        self.path = path
    }

    mutating func read(_ root: Node) throws(ConfigurationFailure) {
        guard case .mapping(let mapping) = root else {
            throw ConfigurationFailure(
                at: place(root), "a configuration is a mapping of keys to values, this is not.")
        }
        read(mapping, under: "")
    }

    private mutating func read(_ mapping: Node.Mapping, under prefix: String) {
        for (key, value) in mapping {
            guard let part = key.string else {
                failures.append(ConfigurationFailure(at: place(key), "a key must be a text."))
                continue
            }
            let name = prefix + part
            if case .mapping(let section) = value, names.contains(where: { $0.hasPrefix(name + ".") }) {
                read(section, under: name + ".")
                continue
            }
            do throws(ConfigurationFailure) {
                try note(value, of: name, key: key)
            } catch {
                failures.append(error)
            }
        }
    }

    private mutating func note(_ value: Node, of name: String, key: Node) throws(ConfigurationFailure) {
        guard let setting = Settings.all.first(where: { $0.name == name }) else {
            let sections = names.filter { $0.hasPrefix(name + ".") }
            guard sections.isEmpty else {
                throw ConfigurationFailure(
                    at: place(value),
                    "“\(name)” is a section; it must hold " + sections.map { "“\($0)”" }.joined(separator: ", ") + ".")
            }
            throw .unknownKey(name, at: place(key))
        }
        guard case .scalar(let scalar) = value else {
            throw ConfigurationFailure(
                at: place(value), "“\(name)” takes one value; it must be \(setting.expectation).")
        }
        guard values[name] == nil else {
            throw ConfigurationFailure(at: place(key), "“\(name)” is given twice.")
        }
        guard setting.accepts(scalar.string) else {
            throw .wrongValue(scalar.string, of: setting, at: place(value))
        }
        values[name] = scalar.string
        marks[name] = value.mark ?? key.mark
    }

    private func place(_ node: Node) -> String {
        node.mark.map { "\(path):\($0.line):\($0.column)" } ?? path
    }
}

extension Node {
    /// Whether a document says nothing: it is empty, or all comments.
    fileprivate var isNothing: Bool {
        scalar.map { $0.string.isEmpty || $0.string == "null" || $0.string == "~" } ?? false
    }
}

extension YamlError {
    /// What is wrong in a file, at its place.
    fileprivate func failure(of path: String) -> ConfigurationFailure {
        switch self {
        case .composer(_, "found undefined alias", let mark, _):
            ConfigurationFailure(
                at: "\(path):\(mark.line):\(mark.column)", "a configuration takes no alias of YAML; write the value.")
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ConfigurationFailure(
                at: "\(path):\(mark.line):\(mark.column)", "this is neither YAML nor JSON: \(problem).")
        case .duplicatedKeysInMapping(let duplicates, let context):
            ConfigurationFailure(
                at: "\(path):\(context.mark.line):\(context.mark.column)",
                "given twice: " + duplicates.sorted().map { "“\($0)”" }.joined(separator: ", ") + ".")
        case .reader(let problem, _, _, _):
            ConfigurationFailure(at: path, "this is neither YAML nor JSON: \(problem).")
        default:
            ConfigurationFailure(at: path, "this is neither YAML nor JSON: \(self).")
        }
    }
}

extension ConfigurationSearch {
    /// Reads the file; nil when none was named and none is there.
    ///
    /// - Throws: Also for the first of its ``ConfigurationFile/failures``.
    package func read() throws(ConfigurationFailure) -> ConfigurationFile? {
        let file = try readWithFailures()
        if let failure = file?.failures.first { throw failure }
        return file
    }

    /// Reads the file as ``read()`` does, also where it has ``ConfigurationFile/failures``.
    package func readWithFailures() throws(ConfigurationFailure) -> ConfigurationFile? {
        guard let (path, content) = try find() else { return nil }
        return try ConfigurationFile(path: path, content: content)
    }
}
