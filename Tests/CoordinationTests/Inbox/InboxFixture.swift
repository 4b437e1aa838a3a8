import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

@testable import Coordination

/// A group in memory whose participants share an inbox.
struct InboxFixture {
    let clock = ManualClock()
    let space: MemorySpace
    /// Keeps the group while participants come and go.
    let keeper: MemoryGroup

    init(limits: Limits = Limits()) async throws {
        space = MemorySpace(clock: clock, limits: limits)
        keeper = try await space.open("group")
    }

    func participant(_ role: SessionRole = .executor) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: role, name: "test"))
    }
}

func callID(_ text: String) throws -> CallID {
    try #require(CallID(text))
}

func textMessage(_ id: String, _ text: String = "hello") throws -> InboxMessage {
    InboxMessage(callID: try callID(id), content: .text(from: "sip:a@x", to: "sip:b@x", text: text))
}
