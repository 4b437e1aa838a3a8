package import CoreAPI
internal import Platform
package import Replica
package import StoreEngine
internal import Synchronization

/// The order of a group in files, for a hub that serves it.
package final class FileOrder: LocalOrder {
    package let capabilities: Capabilities
    package var clock: any TimeSource { local.clock }
    package var replica: Replica { local.replica }
    package var incarnation: UInt64 { local.position.journal.header.incarnation }

    private let local: LocalGroup
    private let listener: Listening.ID
    /// The locked byte of the file `sessions`, as a participant has one. So the group counts as in use even while the
    /// hub has no clients.
    private let lockedByte: Int

    private init(local: LocalGroup, listener: Listening.ID, lockedByte: Int, capabilities: Capabilities) {
        self.local = local
        self.listener = listener
        self.lockedByte = lockedByte
        self.capabilities = capabilities
    }

    deinit {
        local.stopListening(listener)
        local.sessionLocks.release(lockedByte)
    }

    /// Opens the order of the group in a directory, and listens to all its updates. Creates a missing directory.
    ///
    /// - Throws: The errors of ``FileGroup/open(directory:as:options:)``.
    package static func open(
        directory: String, options: FileGroupOptions, effectByteCount: Int
    ) async throws(SharedCoreError) -> FileOrder {
        var options = options
        options.access = .participant
        options.effectByteCount = effectByteCount
        try FileGroup.promises(of: options, on: nil).satisfy(options.requirements)
        try options.limits.requireRecordable()
        let local = try await GroupRegistry.shared.group(at: directory, options: options)
        let capabilities = FileGroup.promises(of: options, on: local.directory.fileSystem)
        try capabilities.satisfy(options.requirements)
        let lockedByte = try SharedCoreError.wrapping { () throws(SystemCallError) in try local.sessionLocks.acquire() }
        do throws(SharedCoreError) {
            let listener = try await local.listen(to: [.all], .everything)
            return FileOrder(local: local, listener: listener, lockedByte: lockedByte, capabilities: capabilities)
        } catch {
            local.sessionLocks.release(lockedByte)
            throw error
        }
    }

    package func refresh() async throws(SharedCoreError) {
        try await local.read(.linearizable) { _ in }
    }

    package func room(for transaction: Transaction) -> OrderRoom? {
        guard local.waitsForRoom(transaction) else { return nil }
        let log = local.logByteCount
        var make: (@Sendable () async -> Void)?
        if local.mustMakeRoom { make = { [local] in _ = await local.makeRoom() } }
        return OrderRoom(make: make) { [local] in await local.regainRoom(for: transaction, from: log) }
    }

    package func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded {
        let written = try await local.writeThoughCancelled(request, as: capabilities.durability)
        guard capabilities.durability == .disk else { return Recorded(outcome: written.outcome) }
        return Recorded(outcome: written.outcome) { [local] () async throws(SharedCoreError) in
            try await local.settle(written)
        }
    }

    package func setServing(_ isServing: Bool) {
        local.isHub.store(isServing, ordering: .sequentiallyConsistent)
        // Release the byte: while it is locked, no process with another boot id can begin a new incarnation of the
        // group.
        if !isServing { local.sessionLocks.release(lockedByte) }
        // Must follow the change of `isHub`, which determines for which processes this one waits.
        local.signalUpdates()
    }

    package func endDead() async throws(SharedCoreError) {
        try await local.endDead()
    }
}
