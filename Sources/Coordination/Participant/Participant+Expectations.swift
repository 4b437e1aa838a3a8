internal import CoreAPI
internal import Mailboxes

/// How the group learns what is waited for here.
///
/// All calls for an item share one expectation. What stands in the store is brought to what is expected by one write after
/// the other, each of which looks at what is expected only when its turn has come: so the last one agrees with it, and a
/// wait that is over takes nothing from one that has just begun (contract C9).
extension Participant {
    /// Lets the owner know that a call waits.
    func expect(_ item: ItemName, before deadline: BootInstant, as number: Int) async throws(SharedCoreError) {
        expected.expect(item, before: deadline, as: number)
        if let error = await record(item).value { throw error }
    }

    /// Returns whether a session of this machine, other than the owner's, has an open expectation that is older than this
    /// participant's for an item. That session challenges the owner.
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

    /// Takes the expectation back, unless another call here waits for the same. Does not wait for the store: it also
    /// ends with the session, and is no demand after its deadline.
    func forget(_ item: ItemName, as number: Int) {
        guard expected.forget(item, as: number), end == nil else { return }
        _ = record(item)
    }

    private func record(_ item: ItemName) -> Task<SharedCoreError?, Never> {
        let number = newNumber()
        let before = recordings[item]?.task
        let task = Task(executorPreference: executor) { () -> SharedCoreError? in
            _ = await before?.value
            return await self.write(item, as: number)
        }
        recordings[item] = (number, task)
        return task
    }

    private func write(_ item: ItemName, as number: Int) async -> SharedCoreError? {
        defer { if recordings[item]?.number == number { recordings[item] = nil } }
        do throws(SharedCoreError) {
            let key = try Expectation.key(of: item, for: store.session.id)
            if let latest = expected.deadline(of: item) {
                let expectation = Expectation(bootID: clock.bootID, deadline: latest)
                _ = try await store.put(key, expectation.bytes, lifetime: .session)
            } else {
                _ = try await store.delete(key)
            }
            return nil
        } catch {
            note(error)
            return error
        }
    }
}
