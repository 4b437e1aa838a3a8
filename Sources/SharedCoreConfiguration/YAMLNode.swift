internal import CYAML

/// A node of a document of YAML, and where it begins.
struct YAMLNode {
    enum Content {
        case scalar(String)
        /// The elements are not kept.
        case sequence
        /// The pairs in their order, including pairs with equal keys.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    let content: Content
    let position: ConfigurationFile.Position

    var scalar: String? { if case .scalar(let text) = content { text } else { nil } }

    /// Reads the one document of a text.
    ///
    /// - Parameters:
    ///   - text: YAML, or JSON, which is YAML.
    ///   - depth: The maximum nesting of nodes, since unlimited nesting would exhaust the stack.
    /// - Returns: Nil for a text without a document.
    static func root(of text: [UInt8], depth: Int) throws(YAMLFailure) -> YAMLNode? {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else { throw YAMLFailure("there is not enough memory") }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        let result = text.withUnsafeBufferPointer { bytes -> Result<YAMLNode?, YAMLFailure> in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            do throws(YAMLFailure) {
                return .success(try root(of: parser, depth: depth))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func root(
        of parser: UnsafeMutablePointer<yaml_parser_t>, depth: Int
    ) throws(YAMLFailure) -> YAMLNode? {
        var (root, open): (YAMLNode?, [OpenNode]) = (nil, [])
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLFailure(of: parser.pointee) }
            defer { yaml_event_delete(&event) }
            let position = ConfigurationFile.Position(event.start_mark)
            var node: YAMLNode?
            switch event.type {
            case YAML_STREAM_END_EVENT:
                return root
            case YAML_DOCUMENT_START_EVENT where root != nil:
                throw YAMLFailure("a second document begins", at: position)
            case YAML_ALIAS_EVENT:
                throw YAMLFailure(at: position, isAlias: true)
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                let text = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
                node = YAMLNode(content: .scalar(String(decoding: text, as: UTF8.self)), position: position)
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
                guard open.count < depth else { throw YAMLFailure("it is nested too deep", at: position) }
                open.append(OpenNode(isMapping: event.type == YAML_MAPPING_START_EVENT, position: position))
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                node = open.removeLast().node
            default: break
            }
            guard let node else { continue }
            if open.isEmpty { root = node } else { open[open.count - 1].add(node) }
        }
    }

    /// A node that is still being read.
    private struct OpenNode {
        let isMapping: Bool
        let position: ConfigurationFile.Position
        private var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        /// The key of the value that comes next.
        private var key: YAMLNode?

        init(isMapping: Bool, position: ConfigurationFile.Position) {
            self.isMapping = isMapping
            self.position = position
        }

        var node: YAMLNode { YAMLNode(content: isMapping ? .mapping(pairs) : .sequence, position: position) }

        mutating func add(_ node: YAMLNode) {
            guard isMapping else { return }
            if let key { pairs.append((key, node)) }
            key = key == nil ? node : nil
        }
    }
}

/// The reason why a text is not accepted as a YAML document.
struct YAMLFailure: Error {
    let problem: String
    /// The place; nil for a text with bytes that are no characters.
    let position: ConfigurationFile.Position?
    /// True if the document has an alias (`*name`). An alias represents the whole content of its anchor, and aliases of
    /// aliases multiply it: nine levels of nine are 387 million nodes.
    let isAlias: Bool

    init(_ problem: String = "", at position: ConfigurationFile.Position? = nil, isAlias: Bool = false) {
        self.problem = problem
        self.position = position
        self.isAlias = isAlias
    }

    init(of parser: yaml_parser_t) {
        let isMarked = [YAML_SCANNER_ERROR, YAML_PARSER_ERROR].contains(parser.error)
        self.init(
            parser.problem.map { String(cString: $0) } ?? "there is not enough memory",
            at: isMarked ? ConfigurationFile.Position(parser.problem_mark) : nil)
    }
}

extension ConfigurationFile.Position {
    /// Makes a position from a mark of the YAML parser, which counts from 0.
    ///
    /// - Parameter mark: A place counted from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
