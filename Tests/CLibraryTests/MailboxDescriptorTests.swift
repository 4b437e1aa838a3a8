internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Mailboxes
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import CLibrary

@Suite("The descriptor of a mailbox")
struct MailboxDescriptorTests {
    /// A store whose watches fail once, before their first event.
    private struct FailingStore: ForwardingStore {
        let inner: any SharedStore
        /// The number of calls for an event.
        let askedCount = Box(0)

        func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
            let watch = try await inner.watch(prefixes, from: start)
            return Watch(
                next: { [askedCount] () async throws(SharedCoreError) in
                    let count = askedCount.update { count -> Int in
                        count += 1
                        return count
                    }
                    if count == 1 { throw SharedCoreError(.unavailable, "The watch fails once.", at: "test") }
                    return try await watch.next()
                }, cancel: { watch.cancel() })
        }
    }

    @Test("It is readable for a message that comes after an error of the watch", .timeLimit(.minutes(1)))
    func afterError() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, as: SessionDescription(role: .tool))
        let store = FailingStore(inner: group)
        let mailbox = try QueueMailbox(store, path: "mailbox")
        let object = MailboxObject(mailbox)
        let thread = SerialThread(name: "c")
        let descriptor = await thread.run { () throws(Never) in try? object.descriptor }
        #expect(descriptor != nil)
        try await eventually("the watch goes on") { store.askedCount.value >= 2 }
        // Clears the signal of the error.
        let early = await thread.run { () throws(Never) in try? object.take(until: Deadline(0), waits: false)?.bytes }
        #expect(early == nil)
        try await mailbox.send([7])
        let taken = await thread.run { () throws(Never) -> [UInt8]? in
            guard let descriptor, Poll.wait(for: [descriptor], timeout: .seconds(30))[0] else { return nil }
            return try? object.take(until: Deadline(0), waits: false)?.bytes
        }
        #expect(taken == [7])
        object.close()
        await group.close()
    }
}
