import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import TestSupport

/// A group in memory in which participants open one queue.
struct QueueFixture {
    let clock = ManualClock()
    let space: MemorySpace

    init(limits: Limits = Limits()) {
        space = MemorySpace(clock: clock, limits: limits)
    }

    /// Opens a handle with a session of its own, for one more participant.
    func open() async throws -> MemoryGroup {
        try await space.open("group")
    }

    /// Returns the queue as one more participant sees it.
    func mailbox(_ options: QueueOptions = QueueOptions()) async throws -> QueueMailbox {
        try QueueMailbox(await open(), path: "box", options: options)
    }
}

/// Returns bytes that a test can distinguish by their number.
func bytes(_ number: Int) -> [UInt8] { Array("message \(number)".utf8) }

extension QueueMailbox {
    /// Takes and acknowledges everything that can be taken.
    func drain() async throws -> [[UInt8]] {
        var drained: [[UInt8]] = []
        while let delivery = try await take() {
            drained.append(delivery.bytes)
            try await acknowledge(delivery)
        }
        return drained
    }
}
