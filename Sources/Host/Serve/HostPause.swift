internal import CoreAPI

/// The mark that keeps the host of a group from starting Executors: pushes wait. It outlives hosts.
struct HostPause: Hashable, Sendable {
    static let key: Key = ".sharedcore/host-pause"
    static let prefix: KeyPrefix = ".sharedcore/host-pause"

    /// The user who has paused the host; nil where the mark does not tell.
    let user: UInt32?

    init(user: UInt32) {
        self.user = user
    }

    /// Bytes that name no user pause the host as well.
    private init(_ entry: Entry) {
        user = String(validating: entry.value, as: UTF8.self).flatMap { UInt32($0) }
    }

    /// The mark that stands in a group; nil while the host is not paused.
    static func current(in store: some SharedStore) async throws(SharedCoreError) -> HostPause? {
        try await store.get(key).map { HostPause($0) }
    }

    /// The user's number as text.
    var bytes: [UInt8] { Array((user.map { "\($0)" } ?? "").utf8) }

    var sentence: String { "paused" + (user.map { " by user \($0)" } ?? "") }
}
