import Coordination
import Foundation

/// The core: what only one process may run at a time. It fetches what the server has.
struct LetterCore: Core {
    let box: LetterBox

    func start(in context: CoreContext) async throws {
        Pair.say("[\(getpid())] the core starts")
    }

    func iterate(in context: CoreContext) async throws {
        while true {
            for letter in try box.letters() {
                guard let callID = CallID(letter.callID) else { continue }
                let content = InboxMessage.Content.text(from: "server", to: "me", text: letter.text)
                try await context.deliver(InboxMessage(callID: callID, content: content))
                // Only now is it stored for each process that asks, so only now may the server forget it.
                try box.throwAway(letter.callID)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    func stop() async {
        Pair.say("[\(getpid())] the core stops")
    }
}
