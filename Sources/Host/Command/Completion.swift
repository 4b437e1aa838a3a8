internal import ArgumentParser
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import SharedCoreConfiguration

/// The completions for which a shell runs this program.
enum Completion {
    /// The names of the groups in files of the state directory.
    static let group = CompletionKind.custom { words, _, prefix in
        limited(groups(for: words), to: prefix)
    }

    /// The keys of the group.
    static let key = CompletionKind.custom { words, _, prefix in
        await limited(keys(for: words, prefix: prefix), to: prefix)
    }

    /// The largest number of proposed words.
    private static let maximumCount = 500
    /// The limit for opening the group.
    private static let timeout = Duration.seconds(1)

    private static func limited(_ words: [String], to prefix: String) -> [String] {
        Array(words.lazy.filter { $0.hasPrefix(prefix) && isPlain($0) }.sorted().prefix(maximumCount))
    }

    /// Returns true if every shell reads a word unchanged. Any process with write access can choose the name of a key,
    /// and bash expands the proposed words: a key with `$(…)` would run as a command when the user presses Tab.
    private static func isPlain(_ word: String) -> Bool {
        word.first != "-"
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-/@+,%".utf8.contains(byte)
                }
            }
    }

    private static func groups(for words: [String]) -> [String] {
        guard let state = try? context(for: words)?.resolution.stateDirectory(),
            let names = try? Directory(path: state).names()
        else { return [] }
        return names.filter { FileGroup.isPresent(in: "\(state)/\($0)") }
    }

    private static func keys(for words: [String], prefix: String) async -> [String] {
        guard let context = try? context(for: words) else { return [] }
        // A prefix selects only whole parts of a path, so cut off the incomplete last part.
        let path = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        guard let selection = try? KeyPrefix(path) else { return [] }
        let keys = CompletedKeys()
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            try? await context.withReader(for: CompletionCommand.name, until: deadline) { group in
                await keys.set(
                    try await group.list(selection).entries.map(\.key).filter { !ReservedPath.contains($0) })
            }
            end.yield()
        }
        // A hub whose process is stopped also delays the end of a reader.
        Task {
            try? await context.clock.sleep(until: context.clock.now().advanced(by: timeout))
            end.yield()
        }
        for await _ in ends { break }
        return await keys.texts
    }

    /// Returns the context of an incomplete command line. It logs nothing: a shell shows standard error between its words.
    private static func context(for words: [String]) throws -> CommandContext? {
        var options: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            let name = String(word.prefix { $0 != "=" })
            guard GlobalOptions.valued.contains(name), name != "--log-level" else { continue }
            if word != name { options.append(word) } else if let value = rest.popFirst() { options += [name, value] }
        }
        let global = try GlobalOptions.parse(options + ["--log-level", "critical"])
        return try CommandFrame(global: global).makeContext()
    }
}

/// The keys that a read has found.
private actor CompletedKeys {
    private(set) var texts: [String] = []

    func set(_ keys: [Key]) {
        texts = keys.map(\.text)
    }
}
