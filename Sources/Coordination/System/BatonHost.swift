package import CoreAPI
internal import Platform
internal import Synchronization

/// Keeps a copy of each baton in the host. So a call continues even if its old owner dies before the next owner has
/// fetched the baton.
///
/// It keeps duplicates of the descriptors until the deadline, or until the giver no longer owns and the group has no
/// record of the baton. It depends on the present state of the group, not on single events, some of which it may miss.
///
/// Source: contract C25.
package final class BatonHost: Sendable {
    private struct Kept {
        let files: [OpenFile]
        let closing: Task<Void, any Error>
    }

    private struct State {
        var kept: [Revision: Kept] = [:]
        var view = OwnershipView()
        var isOver = false
    }

    /// The number of batons that it keeps at once. A group has at most one baton, and for a short time a second one
    /// that has ended.
    private static let maximumCount = 4

    private final class Content: Sendable {
        let state = Mutex(State())
    }

    private let group: any SharedGroup
    private let content: Content
    private let listener: BatonListener

    /// Begins to listen.
    package init(of group: any SharedGroup, clock: any TimeSource) throws(SharedCoreError) {
        let content = Content()
        self.group = group
        self.content = content
        do throws(SystemCallError) {
            listener = try BatonListener(
                takingFiles: 1 + Baton.maximumDescriptorCount,
                answer: { text, files in Self.answer(text, files, in: content, by: clock) },
                ended: { Self.close(content) })
        } catch {
            throw SharedCoreError(error)
        }
    }

    /// Registers in the group that this host keeps batons, for as long as its session lives.
    package func start() async throws(SharedCoreError) {
        try await group.put(
            OwnershipKey.batonHost, BatonHostRecord(path: listener.path).bytes, lifetime: .session)
    }

    /// Closes the batons that have ended in a view of the group.
    package func see(_ view: OwnershipView) {
        let dropped = content.state.withLock { state in
            guard view.revision >= state.view.revision else { return [Kept]() }
            state.view = view
            let over = state.kept.keys.filter { Self.isOver($0, in: view) }
            return over.compactMap { state.kept.removeValue(forKey: $0) }
        }
        for baton in dropped { baton.closing.cancel() }
    }

    /// Closes everything, and listens no more. Idempotent.
    package func stop() {
        listener.close()
        Self.close(content)
    }

    /// Returns true if neither the owner that gave a baton nor a later one needs it. A view from before the giver owned
    /// does not count.
    private static func isOver(_ epoch: Revision, in view: OwnershipView) -> Bool {
        guard view.revision >= epoch, view.owner?.claim != epoch else { return false }
        return view.baton?.record.epoch != epoch || view.baton?.record.state != .offered
    }

    private static func answer(
        _ text: [UInt8], _ files: [OpenFile], in content: Content, by clock: any TimeSource
    ) -> BatonListener.Reply? {
        if let epoch = BatonMessage.requested(by: text) {
            guard let kept = content.state.withLock({ $0.kept[epoch] }) else { return nil }
            return BatonListener.Reply(text: text, files: kept.files)
        }
        guard let (epoch, deadline) = BatonMessage.deposited(by: text), files.first?.isSealed == true else {
            return nil
        }
        FailPoint.hit("baton.deposited")
        let now = clock.now()
        guard now < deadline else { return nil }
        let end = min(deadline, now.advanced(by: Baton.lifetimes.upperBound))
        let isKept = content.state.withLock { state in
            guard !state.isOver, state.kept[epoch] == nil, state.kept.count < maximumCount,
                !isOver(epoch, in: state.view)
            else { return false }
            let closing = Task {
                try await clock.sleep(until: end)
                _ = content.state.withLock { $0.kept.removeValue(forKey: epoch) }
            }
            state.kept[epoch] = Kept(files: files, closing: closing)
            return true
        }
        return isKept ? BatonListener.Reply(text: BatonMessage.kept(epoch)) : nil
    }

    private static func close(_ content: Content) {
        let kept = content.state.withLock { state in
            state.isOver = true
            defer { state.kept = [:] }
            return state.kept
        }
        for baton in kept.values { baton.closing.cancel() }
    }
}
