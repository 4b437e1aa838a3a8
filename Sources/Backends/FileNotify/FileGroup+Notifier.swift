public import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

extension FileGroup {
    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try handle.requireOpen()
        let listener = try await local.listen(to: [], Bells(of: name))
        do throws(SharedCoreError) {
            try local.replica.read { state throws(SharedCoreError) in try self.handle.requireSession(in: state) }
        } catch {
            local.stopListening(listener)
            throw error
        }
        return try handle.requireOpen(
            for: local.replica.observe(
                name, for: session.id, isParticipant: !local.isReadOnly,
                catchUp: { [local] () throws(SharedCoreError) in try local.catchUpInPlace() },
                onCancel: { [local] in local.stopListening(listener) }))
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try handle.requireOpen()
        return try await local.read(.linearizable) { state throws(SharedCoreError) in
            try self.handle.requireSession(in: state)
            return state.topic(name)
        }
    }
}
