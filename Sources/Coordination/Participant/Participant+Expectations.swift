internal import CoreAPI
internal import Mailboxes

/// The participant's record of waits in the group.
///
/// All calls for an item share one expectation. The writes of an expectation run one after another, and each computes
/// the deadline only when it begins. So the last write agrees with the present calls: the end of one wait cannot remove
/// the expectation of a wait that has just begun (contract C9).
extension Participant {
    /// Stores an expectation, so that the owner knows that a call waits.
    func expect(_ item: ItemName, before deadline: BootInstant, as number: Int) async throws(SharedCoreError) {
        expected.expect(item, before: deadline, as: number)
        try await record(item).value.get()
    }

    /// Returns true if a session of this machine, other than the owner's, has an open expectation that is older than
    /// this participant's for an item. The older session challenges the owner.
    func waitsBehindOthers(for item: ItemName) async throws(SharedCoreError) -> Bool {
        let all = try await store.list(Expectation.path, consistency: .causal).entries
        let key = try Expectation.key(of: item, for: store.session.id)
        guard let own = all.first(where: { $0.key == key }) else { return false }
        return all.contains { entry in
            guard entry.creationRevision < own.creationRevision, entry.origin != own.origin,
                entry.origin != machine.view.owner?.session
            else { return false }
            let expectation = Expectation(bytes: entry.value)
            return expectation.bootID == clock.bootID && expectation.deadline > clock.now()
        }
    }

    /// Removes the expectation, unless another call here waits for the same item. Does not wait for the store: the
    /// expectation also ends with the session, and has no effect after its deadline.
    func forget(_ item: ItemName, as number: Int) {
        guard expected.forget(item, as: number), end == nil else { return }
        _ = record(item)
    }

    /// Takes the message of a call. Removes its expectation in the same commit, unless another call here waits for the
    /// same item. If there is nothing to take, the call waits on.
    ///
    /// Runs in a task of its own, so that its outcome is known even if the call is cancelled.
    func take(for call: MessageCall) async throws(SharedCoreError) -> InboxTakeResult {
        let item = call.id.item
        let wasExpected = expected.has(item, for: call.number)
        let wasLast = expected.forget(item, as: call.number)
        let result = await next(for: item) { participant throws(SharedCoreError) in
            let isOver = wasLast && participant.expected.deadline(of: item) == nil
            let key = isOver ? try Expectation.key(of: item, for: participant.store.session.id) : nil
            return try await participant.inbox.take(call.id, firstLook: .causal, deleting: key)
        }.value
        if case .success(.taken) = result { return try result.get() }
        if wasExpected { try await expect(item, before: call.deadline, as: call.number) }
        return try result.get()
    }

    private func record(_ item: ItemName) -> Task<Result<Void, SharedCoreError>, Never> {
        next(for: item) { participant throws(SharedCoreError) in
            let key = try Expectation.key(of: item, for: participant.store.session.id)
            do throws(SharedCoreError) {
                if let latest = participant.expected.deadline(of: item) {
                    let expectation = Expectation(bootID: participant.clock.bootID, deadline: latest)
                    _ = try await participant.store.put(key, expectation.bytes, lifetime: .session)
                } else {
                    _ = try await participant.store.delete(key)
                }
            } catch {
                participant.note(error)
                throw error
            }
        }
    }

    /// Runs a write for an item after the earlier writes for this item have ended.
    private func next<Value: Sendable>(
        for item: ItemName, _ body: @escaping @Sendable (isolated Participant) async throws(SharedCoreError) -> Value
    ) -> Task<Result<Value, SharedCoreError>, Never> {
        let number = newNumber()
        let before = writes[item]?.end
        let task = Task(executorPreference: executor) { () -> Result<Value, SharedCoreError> in
            await before?.value
            return await self.write(item, as: number, by: body)
        }
        writes[item] = (number, Task(executorPreference: executor) { _ = await task.value })
        return task
    }

    private func write<Value: Sendable>(
        _ item: ItemName, as number: Int,
        by body: @Sendable (isolated Participant) async throws(SharedCoreError) -> Value
    ) async -> Result<Value, SharedCoreError> {
        defer { if writes[item]?.number == number { writes[item] = nil } }
        do throws(SharedCoreError) {
            return .success(try await body(self))
        } catch {
            return .failure(error)
        }
    }
}
