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

    /// Returns whether the content of a group takes more than a part of the memory that a process may have; false where
    /// no limit is given, or the store does not count.
    package static func isFull(
        _ store: any SharedStore, memory: UInt64?, part: Int
    ) async throws(SharedCoreError) -> Bool {
        guard let memory, let usage = try await store.usage() else { return false }
        let valueByteCount =
            store.residentValueByteCount.map { min(usage.byteCount, usage.entryCount * $0) } ?? usage.byteCount
        return usage.entryCount * entryByteCount + valueByteCount > Int(clamping: memory) / part
    }
}

/// The bytes of messages that may come into the inbox of a group now.
///
/// If each process has all values of the group in its memory, the messages of the inbox may take only a part of the
/// memory that a process may have; the others wait in their files. One message may always come.
struct InboxRoom {
    /// The part of the memory for all messages that participants wait for, together: as much as two of the largest
    /// texts.
    private static let awaitedPart = MailLimits.textPart / 2
    /// The same for messages that no participant waits for, so that an awaited one fits beside them.
    private static let unawaitedPart = 32

    private let awaited: Int
    private let unawaited: Int

    init(in store: any SharedStore, memory: UInt64?) async throws(SharedCoreError) {
        guard let memory, store.residentValueByteCount == nil else {
            (awaited, unawaited) = (.max, .max)
            return
        }
        let waiting = try await Inbox(store).waitingByteCount()
        func room(_ part: Int) -> Int { waiting == 0 ? .max : Int(clamping: memory) / part - waiting }
        (awaited, unawaited) = (room(Self.awaitedPart), room(Self.unawaitedPart))
    }

    /// Returns whether a message of so many bytes may come.
    func fits(_ byteCount: Int, isAwaited: Bool) -> Bool { byteCount <= (isAwaited ? awaited : unawaited) }
}
