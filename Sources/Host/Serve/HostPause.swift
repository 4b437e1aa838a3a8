internal import CoreAPI

/// The entry that keeps the host of a group from starting Executors. It stays when the host ends.
struct HostPause: Hashable, Sendable {
    static let key: Key = ".sharedcore/host-pause"
    static let prefix: KeyPrefix = ".sharedcore/host-pause"

    /// The number of the user that has paused the host; nil if the entry does not contain it.
    let user: UInt32?

    init(user: UInt32) {
        self.user = user
    }

    /// Bytes that are not a user's number also pause the host.
    private init(_ entry: Entry) {
        user = String(validating: entry.value, as: UTF8.self).flatMap { UInt32($0) }
    }

    /// Returns the entry of a group; nil while the host is not paused.
    static func current(in store: some SharedStore) async throws(SharedCoreError) -> HostPause? {
        try await store.get(key).map { HostPause($0) }
    }

    /// The user's number as text.
    var bytes: [UInt8] { Array((user.map { "\($0)" } ?? "").utf8) }

    var sentence: String { "paused" + (user.map { " by user \($0)" } ?? "") }
}
