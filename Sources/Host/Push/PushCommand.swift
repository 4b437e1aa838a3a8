internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// `push`: tells the host that a push came.
struct PushCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Tell the host that a push came.",
        discussion: """
            The push is kept in the group until an Executor has dealt with it, also while no host (“sharedcore serve”) \
            runs. --retry puts those that were given up among them again, and needs no call-id.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "What the push announced.")
    var callID: String?

    @Flag(help: "Try all pushes anew that were given up.")
    var retry = false

    func validate() throws {
        if retry, callID != nil { throw ValidationError("--retry takes no call-id.") }
        if !retry, callID == nil { throw ValidationError("A push needs a call-id, or --retry.") }
        if let callID, PushID.callID(callID) == nil {
            throw ValidationError("A call-id is \(PushID.expectation).")
        }
    }

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "push") { group in
            let queue = try PushQueue(of: group, capacity: try context.resolution.pushCapacity())
            guard let callID = callID.flatMap(PushID.callID) else {
                let count = try await queue.retryFailures()
                try await context.output.confirm(
                    text: count == 1 ? "1 push is tried anew." : "\(count) pushes are tried anew.",
                    json: ["event": "retried", "count": .integer(Int64(count))])
                return
            }
            let revision = try await Self.send(callID, to: queue)
            try await context.output.confirm(
                text: "The push waits, as revision \(revision).",
                json: ["event": "pushed", "callID": .text(callID.text), "revision": .natural(revision.rawValue)])
        }
    }

    private static func send(_ callID: CallID, to queue: PushQueue) async throws -> Revision {
        do throws(SharedCoreError) {
            return try await queue.send(callID)
        } catch {
            // There are too many, which is no fault of this one.
            guard error.code == .limitExceeded else { throw error }
            throw CommandFailure(.unavailable, error.sentence)
        }
    }
}
