internal import Configuration
internal import FoundationEssentials
internal import Yams

/// A configuration file, YAML or JSON (which is YAML), that was read and found to hold nothing but known keys.
///
/// The values are a snapshot of swift-configuration's; the marks say where each was written, so that a message can.
struct ConfigurationFile: Sendable {
    /// No sensible configuration is larger; what is, was named by mistake.
    static let maximumByteCount = 64 << 10

    /// The path as it was given.
    let path: String
    /// The values; nil when the file is empty.
    let snapshot: YAMLSnapshot?

    private let marks: [String: Mark]

    /// Understands the bytes of a file.
    init(path: String, content: [UInt8]) throws(CommandFailure) {
        guard content.count <= Self.maximumByteCount else {
            throw .configuration("\(path): a configuration file has at most \(Self.maximumByteCount) bytes.")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw .configuration("\(path): a configuration file is UTF-8, this one is not.")
        }
        self.path = path
        do {
            guard let root = try Parser(yaml: text).singleRoot(), !root.isNothing else {
                snapshot = nil
                marks = [:]
                return
            }
            var collector = MarkCollector(path: path)
            try collector.collect(root)
            marks = collector.marks
            snapshot = try YAMLSnapshot(
                data: content.span.bytes, providerName: path, parsingOptions: .default)
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as YamlError {
            throw .configuration(error.sentence(about: path))
        } catch {
            throw .configuration("\(path): cannot be understood: \(error)")
        }
    }

    /// Where the value of a setting stands; nil when the file does not give it.
    func origin(of name: String) -> SettingOrigin? {
        marks[name].map { .file(path: path, line: $0.line, column: $0.column) }
    }
}
