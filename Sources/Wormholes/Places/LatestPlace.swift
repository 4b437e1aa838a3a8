internal import CoreAPI

/// Where a mailbox of the kind `latest` stands in the store.
///
/// | key | what |
/// |---|---|
/// | `<path>/value` | the last message |
/// | `<path>/cleared` | written by each clearing |
struct LatestPlace: Hashable, Sendable {
    let prefix: KeyPrefix
    let value: Key
    let cleared: Key
    /// Posted by each send and each clearing, in the same commit.
    let announcement: NotificationName

    init(path: String) throws(SharedCoreError) {
        prefix = try KeyPrefix(path + "/")
        value = try Key(path + "/value")
        cleared = try Key(path + "/cleared")
        announcement = try NotificationName(path)
    }
}
