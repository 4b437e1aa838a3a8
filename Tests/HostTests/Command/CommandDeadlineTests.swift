internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// The deadline of commands with `--timeout`.
struct CommandDeadlineTests {
    /// A backend that takes long to open.
    private struct SlowFactory: BackendFactory {
        let name = "file"
        let clock: ManualClock
        let duration: Duration
        let openTimeout: Box<Duration?>
        let space = MemorySpace()

        func open(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            openTimeout.update { $0 = configuration.openTimeout }
            clock.advance(by: duration)
            return try await space.open(configuration.group, as: description)
        }
    }

    private static let commands: [String: @Sendable ([String]) throws -> any HostCommand] = [
        "calls watch": { try CallsWatch.parse($0) },
        "mailbox listen": { try MailboxListen.parse(["box"] + $0) },
        "mailbox take": { try MailboxTake.parse(["box"] + $0) },
        "notify observe": { try NotifyObserve.parse(["name"] + $0) },
    ]

    @Test("The time that opening takes is part of --timeout", arguments: Array(commands.keys))
    func opening(name: String) async throws {
        let clock = ManualClock()
        let start = clock.now()
        let openTimeout = Box<Duration?>(nil)
        var registry = BackendRegistry()
        registry.register(SlowFactory(clock: clock, duration: .seconds(5), openTimeout: openTimeout))
        let context = CommandContext(
            resolution: Resolution(
                flags: [:], environment: ["HOME": "/home/u"], file: nil, workingDirectory: "/place"),
            output: Output(json: true), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            registry: registry, clock: clock)
        let parse = try #require(Self.commands[name])
        let command = try parse(["--timeout", "8s"])
        let hasEnded = Box(false)
        let run = Task {
            defer { hasEnded.update { $0 = true } }
            try await command.run(in: context)
        }
        try await eventually("it waits") { clock.nextWake != nil || hasEnded.value }
        #expect(openTimeout.value == .seconds(8))
        #expect(clock.nextWake == start.advanced(by: .seconds(8)))
        clock.advance(by: .seconds(20))
        let failure = await #expect(throws: CommandFailure.self) {
            try await withTimeout(TestTimeout.usual, "it ends") { try await run.value }
        }
        #expect(failure?.message?.hasPrefix("timed out after 0") == true)
    }
}
