internal import Foundation
internal import SharedCore
internal import SharedCoreConfiguration

/// `note write TEXT [KEY=VALUE ...]` and `note read [KEY=VALUE ...]`: a note in the group that `sharedcore.yaml` describes, in the
/// directory that it is called in.
@main
enum Note {
    private static let key: Key = "note"

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("note: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch arguments.first {
        case "write" where arguments.count > 1: try await write(arguments[1], values(arguments.dropFirst(2)))
        case "read": print(try await read(values(arguments.dropFirst())))
        default: throw Wrong.usage
        }
    }

    private static func write(_ text: String, _ values: [String: String]) async throws {
        let configured = try await ConfiguredGroup.read(values, file: "sharedcore.yaml")
        let group = try await configured.open(as: SessionDescription(name: "note"))
        try await group.put(key, Array(text.utf8))
        await group.close()
    }

    private static func read(_ values: [String: String]) async throws -> String {
        let configured = try await ConfiguredGroup.read(values, file: "sharedcore.yaml")
        let group = try await configured.openToRead()
        let entry = try await group.get(key)
        await group.close()
        return String(decoding: entry?.value ?? [], as: UTF8.self)
    }

    /// The settings among the arguments, which come before the environment and the file.
    private static func values(_ arguments: ArraySlice<String>) throws -> [String: String] {
        var values: [String: String] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Wrong.usage }
            values[parts[0]] = parts[1]
        }
        return values
    }

    enum Wrong: Error, CustomStringConvertible {
        case usage

        var description: String { "usage: note write TEXT [KEY=VALUE ...] | note read [KEY=VALUE ...]" }
    }
}
