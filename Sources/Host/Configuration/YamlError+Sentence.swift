internal import Yams

extension YamlError {
    /// What is wrong in a file, in one line that begins with the place.
    func sentence(about path: String) -> String {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(path):\(mark.line):\(mark.column): this is neither YAML nor JSON: \(problem)."
        case .duplicatedKeysInMapping(let duplicates, let context):
            "\(path):\(context.mark.line):\(context.mark.column): given twice: "
                + duplicates.sorted().map { "“\($0)”" }.joined(separator: ", ") + "."
        case .reader(let problem, _, _, _):
            "\(path): this is neither YAML nor JSON: \(problem)."
        default:
            "\(path): this is neither YAML nor JSON: \(self)."
        }
    }
}
