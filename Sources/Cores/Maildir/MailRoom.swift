internal import Coordination
package import CoreAPI

/// The limits on mail in a group. All content of the group is in the memory of each process that uses it, so the
/// waiting part of a flood must be little beside `executor.memory`.
package enum MailRoom {
    /// From an eighth of the memory on, a Main's core takes one message in each second that no participant waits for,
    /// and from a quarter on the host announces one in each second. No message is lost by that: messages wait in their
    /// files.
    package static let takenPart = 8
    package static let announcedPart = 4
    /// The time between two of those. So a group that is large for another reason still gets its mail.
    package static let pace = Duration.seconds(1)

    /// Measured: the bytes of an entry beside its key and its value.
    private static let entryByteCount = 600
    /// A larger value is left in the journal.
    private static let valueByteCount = 4 << 10

    /// Returns whether the content of a group takes more than a part of the memory that a process may have; false where
    /// no limit is given, or the store does not count.
    package static func isFull(
        _ store: any SharedStore, memory: UInt64?, part: Int
    ) async throws(SharedCoreError) -> Bool {
        guard let memory, let usage = try await store.usage() else { return false }
        let valueByteCount = min(usage.byteCount, usage.entryCount * Self.valueByteCount)
        return usage.entryCount * entryByteCount + valueByteCount > Int(clamping: memory) / part
    }
}
