internal import CoreAPI
internal import Mailboxes

/// Where a queue stands in the store: its items as ``QueueMailbox`` keeps them, and beside them what each clearing
/// writes.
struct QueuePlace: Hashable, Sendable {
    let path: String
    let keys: QueueKeys
    let cleared: Key
    /// Posted by each send and each clearing, in the same commit.
    let announcement: NotificationName

    init(path: String) throws(SharedCoreError) {
        self.path = path
        keys = try QueueKeys(path: path)
        cleared = try Key(path + "/%cleared")
        announcement = try NotificationName(path)
    }

    func mailbox(in store: any SharedStore, options: QueueOptions) throws(SharedCoreError) -> QueueMailbox {
        try QueueMailbox(store, path: path, options: options, announcing: announcement)
    }
}
