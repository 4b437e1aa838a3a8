internal import Synchronization

/// How many observers have heard each post.
final class HeardPosts: Sendable {
    private let counts = Mutex<[UInt64: Int]>([:])

    /// - Returns: How many have heard it now.
    func add(_ post: UInt64) -> Int {
        counts.withLock { counts in
            counts[post, default: 0] += 1
            return counts[post, default: 0]
        }
    }
}
