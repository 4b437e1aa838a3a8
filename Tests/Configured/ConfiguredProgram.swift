internal import Foundation
internal import Glibc
internal import SharedCore
internal import SharedCoreConfiguration

/// An application that opens the configured group, by public declarations alone: `read`, `put KEY VALUE` or `get KEY`, behind that
/// `--file PATH`, `--program PATH` and settings as `KEY=VALUE`. An error is one line: code, place, message.
@main
enum ConfiguredProgram {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            if let error = error as? SharedCoreError {
                print("error \(error.code) [\(error.location)] \(error.message)")
            } else {
                print("error \(error)")
            }
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        var rest = arguments[...]
        let command = rest.popFirst()
        let words = ["put": 2, "get": 1][command ?? ""] ?? 0
        let operands = Array(rest.prefix(words))
        rest = rest.dropFirst(words)
        var (values, file, program): ([String: String], String?, String?) = ([:], nil, nil)
        while let word = rest.popFirst() {
            switch word {
            case "--file": file = rest.popFirst()
            case "--program": program = rest.popFirst()
            default:
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                values[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
            }
        }
        let configured = try await ConfiguredGroup.read(values, file: file, program: program)
        switch command {
        case "put":
            let group = try await configured.open(as: SessionDescription(role: .main))
            try await group.put(try Key(operands[0]), Array(operands[1].utf8))
            await group.close()
            print("done")
        case "get":
            let group = try await configured.openToRead()
            let entry = try await group.get(try Key(operands[0]))
            await group.close()
            print(entry.map { String(decoding: $0.value, as: UTF8.self) } ?? "nothing")
        default: show(configured)
        }
    }

    /// Prints a line for each field.
    private static func show(_ configured: ConfiguredGroup) {
        let (backend, options) = (configured.backend, configured.coordination)
        var fields = backend.settings
        fields["backend"] = backend.backend
        fields["group"] = backend.group
        fields["stateDirectory"] = backend.stateDirectory
        fields["durability"] = backend.durability?.rawValue
        fields["directory"] = configured.directory
        fields["handover.onTimeout"] = options.onHandoverTimeout.rawValue
        for (key, duration) in [
            "handover.timeout": options.handoverTimeout, "handover.maximumTimeout": options.handoverMaximumTimeout,
            "executor.budget": options.executorBudget, "inbox.lifetime": options.inboxLifetime,
        ] {
            fields[key] = "\(duration / .milliseconds(1))ms"
        }
        for (key, text) in fields.sorted(by: { $0.key < $1.key }) { print("\(key) \(text)") }
    }
}
