internal import Coordination
internal import CoreAPI

func ring(_ id: CallID, from caller: String, to own: String, in context: CoreContext) async throws {
    let call = try await context.begin(
        call: CallDescription(id, .incoming, from: caller, to: own, media: [.audio]), in: .ringing)
    for try await received in try await call.commands() {  // from any process of the group, each taken once
        switch received.command {
        case .answer: try await call.change(to: .answered)
        case .decline: try await call.end(.declined)  // what kept the core ends in the same commit
        case .hangUp: try await call.end(.hungUp)
        case .hold: try await call.change(to: .held)
        case .resume: try await call.change(to: .answered)
        }
        try await received.accept()
    }
}

func showCalls(of group: any SharedGroup, in window: ([Call]) -> Void) async throws {
    for try await present in try await Calls(group).changes() {  // in any process, also without a session
        window(present)
    }
}

func answer(_ id: CallID, _ missed: CallID, in group: any SharedGroup) async throws {
    try await Calls(group).send(.answer, to: id, within: .seconds(5))
    try await Calls(group).acknowledge(missed)  // it was seen
}
