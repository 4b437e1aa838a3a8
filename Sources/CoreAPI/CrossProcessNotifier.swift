/// Wakes observers in all processes of a group by name.
///
/// A notification carries no payload but a 64-bit state word. What was committed to the group before a post is readable
/// by whoever the post wakes.
///
/// Source: contract N.
public protocol CrossProcessNotifier: Sendable {
    /// Counts one more post of `name` and wakes its observers, whether there are any or not.
    ///
    /// - Parameters:
    ///   - name: What is posted.
    ///   - state: The new state word; nil leaves it as it is.
    /// - Returns: The commit of the post.
    @discardableResult
    func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision

    /// Begins to deliver the posts of `name`. Returns armed: a post that begins after this call has returned is delivered.
    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation

    /// What stands under `name` now.
    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState
}

extension CrossProcessNotifier {
    /// Counts one more post of `name` and wakes its observers. The state word stays as it is.
    @discardableResult
    public func post(_ name: NotificationName) async throws(SharedCoreError) -> Revision {
        try await post(name, state: nil)
    }
}
