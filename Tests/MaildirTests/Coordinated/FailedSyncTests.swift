#if FAIL_POINTS
    internal import Coordination
    internal import CoreAPI
    internal import CoreAPITesting
    internal import FileNotifyBackend
    internal import MaildirCore
    internal import Platform
    internal import TestSupport
    internal import Testing

    @Suite("A Maildir and a disk that fails")
    struct FailedSyncTests {
        @Test("C8, S10: mail of which the disk has confirmed nothing stays in new, however often storing it is tried")
        func staysUntilConfirmed() async throws {
            let maildir = try TestMaildir()
            try maildir.makeFolders()
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "group")
            let options = FileGroupOptions(durability: .disk)
            let group = try await FileGroup.open(directory: path, options: options)
            let other = try await FileGroup.open(directory: path, options: options)
            let onlooker = try await FileGroup.open(directory: path)
            let inbox = try Inbox(group)
            let attempts = Box(0)
            let context = CoreContext(
                store: group, epoch: Revision(rawValue: 1), role: .main,
                acceptMessage: { message throws(SharedCoreError) in
                    attempts.update { $0 += 1 }
                    return try await inbox.store(message)
                }, reportProblem: { _ in })
            let core = MaildirCore(directory: maildir.path)
            try await core.start(in: context)
            let work = Task { try await core.iterate(in: context) }
            try maildir.deliver(id: "before")
            try await eventually("the core collects") { maildir.names("cur").count == 1 }

            let armed = FailPoint.arm("fdatasync/\(path)/journal-:fail*")
            defer { armed.disarm() }
            try maildir.deliver(id: "one", as: "1.one")
            let id = try #require(CallID("one"))
            try await eventually("the message is in memory, and its storing is tried again") {
                guard case .stored = try await Inbox(onlooker).state(of: id) else { return false }
                return attempts.value >= 5
            }
            #expect(maildir.names("new") == ["1.one"])

            armed.disarm()
            try await eventually("the mail is moved", timeout: TestTimeout.long) { maildir.names("new").isEmpty }
            let journals = TemporaryDirectory.names(in: path).filter { $0.hasPrefix("journal-") }
            #expect(!journals.contains("journal-1"), "the journal of which a sync failed was written anew before")
            guard case .stored = try await Inbox(other).state(of: id) else {
                Issue.record("the message is stored")
                return
            }
            work.cancel()
            try await withTimeout(TestTimeout.usual, "the core ends") { try await work.value }
            await core.stop()
            for group in [group, other, onlooker] { await group.close() }
        }
    }
#endif
