internal import Coordination
package import CoreAPI

/// The limits on mail in a group. Each process of the group has its content in memory, so the stored part of a flood
/// must be small compared with `executor.memory`.
package enum MailRoom {
    /// If the content takes an eighth of the memory limit, a Main's core takes messages for which no participant waits
    /// only once a second. If it takes a quarter, the host announces only one message a second. No message is lost,
    /// because the others stay in their files.
    package static let takenPart = 8
    package static let announcedPart = 4
    /// The interval between two such messages. So a group that is large for another reason still gets its mail.
    package static let pace = Duration.seconds(1)

    /// Measured: the bytes that an entry takes beside its key and its value.
    private static let entryByteCount = 600

    /// Returns true if the content of a group takes more than a part of a process's memory limit; false if there is no
    /// limit, or the store does not count its content.
    package static func isFull(
        _ store: any SharedStore, memory: UInt64?, part: Int
    ) async throws(SharedCoreError) -> Bool {
        guard let memory, let usage = try await store.usage() else { return false }
        let valueByteCount =
            store.residentValueByteCount.map { min(usage.byteCount, usage.entryCount * $0) } ?? usage.byteCount
        return usage.entryCount * entryByteCount + valueByteCount > Int(clamping: memory) / part
    }
}

/// The number of bytes of messages that the inbox of a group may accept now.
///
/// If each process has all values of the group in its memory, the messages of the inbox may take only a part of a
/// process's memory limit, and the others stay in their files. One message is always accepted.
struct InboxRoom {
    /// The part of the memory for all messages that participants wait for, together: as much as two of the largest
    /// texts.
    private static let awaitedPart = MailLimits.textPart / 2
    /// The part for messages that no participant waits for, so that an awaited one fits beside them.
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

    /// Returns true if a message of this size is accepted.
    func fits(_ byteCount: Int, isAwaited: Bool) -> Bool { byteCount <= (isAwaited ? awaited : unawaited) }
}
