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
            var failure: (any Error)?
            try await withThrowingTaskGroup { tasks in
                tasks.addTask { for await _ in messages { try await Softphone.showAll(of: executor.inbox) } }
                do { try await show(callID, executor) } catch { failure = error }
                await executor.finish()  // returns when a core that runs here has served its calls
                received.finish()
                try await tasks.waitForAll()  // no message is in hand when this process ends
            }
            // Also the messages of an Executor that was killed before it had shown them.
            if await executor.coreStarts > 0 { try await Softphone.showAll(of: executor.inbox) }
            if let failure { throw failure }
        }
    }

    private static func show(_ callID: CallID, _ executor: ExecutorParticipant) async throws {
        switch try await executor.message(forCallID: callID, timeout: .seconds(20)).content {
        case .message(let taken): try await Softphone.show(taken, of: executor.inbox)
        case .call(let call): Softphone.say("call: \(call.id) \(call.state) from \(call.from)")
        case .nothingToShow: Softphone.say("nothing to show")
        }
    }
}
