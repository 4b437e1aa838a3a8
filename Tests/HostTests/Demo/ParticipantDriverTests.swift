internal import Coordination
internal import CoreAPI
internal import InMemoryBackend
internal import Platform
internal import Testing

@testable internal import SharedCoreHost

@Suite("The participants of a scenario")
struct ParticipantDriverTests {
    /// Starts shells in place of participants.
    private struct ShellDriver: ParticipantDriver {
        let group: any SharedGroup
        let script: String

        func startExecutor(for callID: CallID, as name: String, failPoint: String?) async throws -> any TestProcess {
            try ChildProcess("sh", ["-c", script])
        }

        func startMain(as name: String) async throws -> any TestProcess { try ChildProcess("sh", ["-c", script]) }
    }

    @Test("A line that is none of an Executor is told with what else it printed, and how it ended")
    func unreadable() async throws {
        let group = try await MemorySpace().open("scenario", as: SessionDescription(role: .tool, name: "test"))
        let line = #"{"event":"message","callID":"a@x","coreStarts":1,"elapsedMs":2}"#
        let driver = ShellDriver(group: group, script: "echo '\(line)'; printf 'Fatal:\\tno memory\\n'; exit 3")
        let result = try await driver.push(try #require(CallID("a@x")), as: "push")
        #expect(result.line?.event == "message" && result.line?.elapsedMs == 2)
        #expect(result.end == .exited(3))
        #expect(result.complaint == #"printed what is no line of an Executor: Fatal:\tno memory"#)
        await group.close()
    }
}
