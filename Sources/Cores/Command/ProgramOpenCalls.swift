internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import Synchronization

/// The calls that a core's program has begun, and the commands for them, which are sent to the program.
final class ProgramOpenCalls: Sendable {
    private struct Entry {
        let call: OpenCall
        let commands: CallCommands
        let task: Task<Void, Never>
    }

    private let context: CoreContext
    private let entries = Mutex<[CallID: Entry]>([:])

    init(in context: CoreContext) {
        self.context = context
    }

    /// Begins a call, and sends the commands for it to the program. Does nothing for a call that is open.
    func begin(
        _ description: CallDescription, in state: Call.State, of program: CoreProgram
    ) async throws(SharedCoreError) {
        let call = try await context.begin(call: description, in: state)
        let commands = try await call.commands()
        let task = Task { await hear(commands, of: call.id, by: program) }
        // An earlier entry with this id belongs to the same call, or to a call that has ended. Its commands are ended,
        // and no command is taken twice.
        let former = entries.withLock {
            $0.updateValue(Entry(call: call, commands: commands, task: task), forKey: call.id)
        }
        if let former { await end(former) }
    }

    /// Sets the state and the media of a call; nil keeps them.
    func change(_ id: CallID, to state: Call.State?, media: Call.Media?) async throws(SharedCoreError) {
        guard let entry = entries.withLock({ $0[id] }) else {
            throw SharedCoreError(
                .guardFailed, "The program has begun no call with the id “\(shown(id))”, or it is over.", at: "call")
        }
        do throws(SharedCoreError) {
            if let state {
                try await entry.call.change(to: state, media: media)
            } else if let media {
                try await entry.call.change(media: media)
            }
        } catch {
            // The guard has failed because the call has ended, or because another core owns and this one is about to
            // stop.
            if error.code == .guardFailed { await forget(entry) }
            throw error
        }
        if case .ended? = state { await forget(entry) }
    }

    /// Returns true if an activity belongs to an open call.
    func hasOne(withActivity id: String) -> Bool {
        CallID(id).map { id in entries.withLock { $0[id] != nil } } ?? false
    }

    private func forget(_ entry: Entry) async {
        await end(entry)
        entries.withLock { entries in
            if entries[entry.call.id]?.commands === entry.commands { entries[entry.call.id] = nil }
        }
    }

    /// Stops taking commands, and waits until none is being taken.
    private func end(_ entry: Entry) async {
        entry.commands.cancel()
        await withTaskCancellationHandler {
            await entry.task.value
        } onCancel: {
            entry.task.cancel()
        }
    }

    /// Stops taking commands: the program has ended, and its requests with it.
    func finish() async {
        for entry in entries.withLock({ Array($0.values) }) { await end(entry) }
    }

    /// Cancels the pending requests to the store.
    func cancel() {
        for entry in entries.withLock({ Array($0.values) }) { entry.task.cancel() }
    }

    // MARK: - Commands

    private static let refusal =
        "the core's program stops, or has \(CoreProgram.unansweredCount) commands to answer"
    /// The shown part of the program's reason. The number of bytes that were left out follows it.
    private static let shownReasonByteCount = CallDescription.maximumReasonByteCount - 32

    private func hear(_ commands: CallCommands, of id: CallID, by program: CoreProgram) async {
        do {
            for try await received in commands {
                let isAsked = program.ask(
                    "callCommand", ["callID": .text(id.text), "command": .text(received.command.description)]
                ) { [self] answer in
                    await tell(answer, of: received, for: id)
                }
                if !isAsked { try await received.refuse(because: Self.refusal) }
            }
        } catch {
            await context.report("commands for the call “\(shown(id))” cannot be received: \(error)")
        }
    }

    private func tell(
        _ answer: Result<JSONObject, Refusal>, of received: ReceivedCallCommand, for id: CallID
    ) async {
        do throws(SharedCoreError) {
            switch answer {
            case .success: try await received.accept()
            case .failure(let refusal):
                try await received.refuse(
                    because: ProgramText.oneLine(refusal.message, upTo: Self.shownReasonByteCount))
            }
        } catch {
            await context.report("the answer to a command for the call “\(shown(id))” is lost: \(error)")
        }
    }

    private func shown(_ id: CallID) -> String { ProgramText.oneLine(id.text, upTo: 64) }
}
