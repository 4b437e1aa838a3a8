internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport

@testable internal import MaildirCore

/// Runs a core over a Maildir while a test observes it, and stops it.
func withCore(
    on maildir: TestMaildir, inbox: TestInbox, clock: (any TimeSource)? = nil, memory: UInt64? = 24 << 20,
    _ body: () async throws -> Void
) async throws {
    let core =
        clock.map { MaildirCore(directory: maildir.path, memory: memory, clock: $0) }
        ?? MaildirCore(directory: maildir.path, memory: memory)
    try await core.start(in: inbox.context)
    let work = Task { try await core.iterate(in: inbox.context) }
    do {
        try await body()
    } catch {
        work.cancel()
        _ = await work.result
        await core.stop()
        throw error
    }
    work.cancel()
    try await withTimeout(TestTimeout.usual, "iterate ends when it is cancelled") { try await work.value }
    await core.stop()
}

/// Runs a core until its work ends by itself, and gives the error that ended it.
func endOfCore(on maildir: TestMaildir, inbox: TestInbox) async throws -> any Error {
    let core = MaildirCore(directory: maildir.path)
    try await core.start(in: inbox.context)
    let end: any Error = try await withTimeout(TestTimeout.usual, "the core ends by itself") {
        do {
            try await core.iterate(in: inbox.context)
            return CancellationError()
        } catch {
            return error
        }
    }
    await core.stop()
    return end
}
