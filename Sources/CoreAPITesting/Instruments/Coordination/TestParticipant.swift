internal import CoreAPI
internal import Platform

/// A Main or an Executor of a case: in the process of the case, or in a process of its own that can be killed and
/// frozen.
///
/// If the backend works only within one process, the harness simulates these ends and stops.
package final class TestParticipant: Sendable {
    private enum Place {
        case here(TestParticipantSession, any SharedGroup)
        case apart(Peer)
    }

    /// The name of the participant on the timeline.
    package let name: String
    private let place: Place
    private let group: TestGroup
    private let dead = Box(false)

    init(_ name: String, here session: TestParticipantSession, on handle: any SharedGroup, in group: TestGroup) {
        self.name = name
        self.group = group
        place = .here(session, handle)
    }

    init(_ name: String, in peer: Peer, of group: TestGroup) {
        self.name = name
        self.group = group
        place = .apart(peer)
    }

    /// Sends it a command, and returns its answer: see ``TestParticipantSession``.
    @discardableResult
    package func tell(_ command: String, timeout: Duration = TestTimeout.usual) async throws -> String {
        switch place {
        case .apart(let peer):
            return try await peer.tell("player " + command, timeout: timeout)
        case .here(let session, _):
            let words = command.split(separator: " ").map(String.init)
            return try await CoreAPITesting.withTimeout(timeout, "“\(name)” does: \(command)") {
                try await session.run(words.first ?? "", Array(words.dropFirst()))
            }
        }
    }

    /// True after the case has killed the process.
    package var isDead: Bool { dead.value }

    /// Kills it as SIGKILL does, and waits until it has ended.
    package func kill() async throws {
        dead.update { $0 = true }
        switch place {
        case .apart(let peer): await peer.killNow()
        case .here(let session, let handle):
            session.life.end()
            try await group.kill(handle)
        }
    }

    /// Stops it as SIGSTOP does.
    ///
    /// - Throws: ``HarnessLimitation`` if the backend does not support it.
    package func freeze() async throws {
        if let limitation = group.context.harness.stopLimitation { throw limitation }
        switch place {
        case .apart(let peer):
            peer.signal(.stop)
            try await peer.stopped()
        case .here(_, let handle): try await group.stop(handle)
        }
    }

    /// Continues it.
    package func thaw() async throws {
        switch place {
        case .apart(let peer): peer.signal(.continue)
        case .here(_, let handle): try await group.continue(handle)
        }
    }

    /// Waits until its process has ended by itself, for example because a Main has killed it.
    package func ended() async throws {
        dead.update { $0 = true }
        if case .apart(let peer) = place { try await peer.ended() }
    }

    // MARK: - The usual commands of an Executor

    /// Begins to wait for a message.
    package func ask(
        _ callID: String, as number: Int = 1, timeout: Duration = .seconds(120), sequence: String? = nil
    ) async throws {
        let sequence = sequence.map { " " + $0 } ?? ""
        try await tell("ask \(number) \(callID) \(Int(timeout / .milliseconds(1)))" + sequence)
    }

    /// Returns the result of the call.
    package func answer(_ number: Int = 1) async throws -> String { try await tell("answer \(number)") }

    /// Starts a Main, and waits until it owns or has failed.
    @discardableResult
    package func start() async throws -> String {
        try await tell("start")
        return try await tell("started")
    }
}
