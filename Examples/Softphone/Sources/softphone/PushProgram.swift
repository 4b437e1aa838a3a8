internal import Coordination
internal import CoreAPI
internal import SIPCore

/// The program that a push starts: it shows one message, or rings for one call, and ends when that is over.
enum PushProgram {
    static func run(_ callID: CallID, in directory: String) async throws {
        let telephone = try SIPTelephone(Softphone.account(in: directory)) { Softphone.say($0) }
        let group = try await Softphone.open(directory, as: .executor)
        try await group.withExecutor(core: { telephone.makeCore() }) { executor in
            let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
            switch answer.content {
            case .message(let taken):
                Softphone.say("\(taken.message.content.sender): \(taken.message.content.text)")
                try await executor.acknowledge(taken)
            case .call(let call):
                Softphone.say("call: \(call.id) \(call.state) from \(call.from)")
            case .nothingToShow:
                Softphone.say("nothing to show")
            }
        }  // `withExecutor` returns when a core that runs here has served its calls
    }
}
