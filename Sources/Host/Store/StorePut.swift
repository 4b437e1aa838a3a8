internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput

/// `store put`: sets the value under a key.
struct StorePut: HostCommand, TakesBytes {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Set the value under a key.",
        discussion: "Status 1 when the condition does not hold.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The key.")
    var key: String

    @Argument(help: "The value; “-” reads it from standard input. Write “--” before one that begins with “-”.")
    var value: ArgumentBytes

    var values: [ArgumentBytes] { [value] }

    @Flag(help: "Only when nothing stands under the key.")
    var ifAbsent = false

    @Option(help: "Only when the value was last written by this revision.")
    var ifRevision: UInt64?

    @Option(name: .customLong("ttl"), help: "How long the entry lives, such as 90s.")
    var lifetime: DurationArgument?

    func validate() throws {
        if ifAbsent, ifRevision != nil {
            throw ValidationError("--if-absent and --if-revision exclude each other.")
        }
    }

    func run(in context: CommandContext) async throws {
        let key = try Key(key)
        try ReservedPath.refuse(key)
        try await context.withGroup(for: "store put") { group in
            let bytes = try await InputValue.bytes(value, limit: group.capabilities.limits.valueByteCount)
            var transaction = Transaction()
            if ifAbsent { transaction.require(.absent(key)) }
            if let ifRevision { transaction.require(.revision(key, Revision(rawValue: ifRevision))) }
            transaction.put(key, bytes, lifetime: lifetime.map { .expiring(after: $0.duration) } ?? .persistent)
            let commit = try await commit(transaction, to: group)
            try await context.output.confirm(
                text: "revision \(commit.revision)",
                json: ["key": .text(key.text), "revision": .natural(commit.revision.rawValue)])
        }
    }

    /// Commits, and says in the command's own terms why not.
    private func commit(_ transaction: Transaction, to group: any SharedGroup) async throws -> Commit {
        do throws(SharedCoreError) {
            return try await group.commit(transaction)
        } catch {
            guard let failure = error.guardFailure else { throw error }
            let found = failure.found.map { "it was last written by revision \($0.revision)" } ?? "nothing stands there"
            throw CommandFailure(.no, "the condition on the key “\(key)” does not hold: \(found)")
        }
    }
}
