internal import Coordination
internal import CoreAPI
internal import SIPCore

/// The program that a push starts: it shows a message, or rings for a call, and ends when that is over. If its core runs,
/// it shows each message that its core receives, because the registrar sends no push for it.
enum PushProgram {
    static func run(_ callID: CallID, in directory: String) async throws {
        let (messages, received) = AsyncStream.makeStream(of: Void.self)
        let telephone = try SIPTelephone(Softphone.account(in: directory)) { event in
            Softphone.say(event)
            if case .message = event { received.yield() }
        }
        let group = try await Softphone.open(directory, as: .executor)
        try await group.withExecutor(options: Softphone.options, core: { telephone.makeCore() }) { executor in
            try await withThrowingTaskGroup { tasks in
                tasks.addTask { for await _ in messages { try await showAll(executor) } }
                defer { received.finish() }
                var failure: (any Error)?
                do { try await show(callID, executor) } catch { failure = error }
                await executor.finish()  // returns when a core that runs here has served its calls
                // Also the messages of an Executor that was killed before it had shown them.
                if await executor.coreStarts > 0 { try await showAll(executor) }
                if let failure { throw failure }
            }
        }
    }

    private static func show(_ callID: CallID, _ executor: ExecutorParticipant) async throws {
        let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
        switch answer.content {
        case .message(let taken):
            Softphone.show(taken.message)
            try await executor.acknowledge(taken)
        case .call(let call):
            Softphone.say("call: \(call.id) \(call.state) from \(call.from)")
        case .nothingToShow:
            Softphone.say("nothing to show")
        }
    }

    /// Shows the messages that no process has in hand.
    private static func showAll(_ executor: ExecutorParticipant) async throws {
        while let taken = try await executor.inbox.take() {
            Softphone.show(taken.message)
            try await executor.acknowledge(taken)
        }
    }
}
