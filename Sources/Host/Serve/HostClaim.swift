internal import CoreAPI
internal import ProgramOutput

/// That this process is the host of the group: one at a time, as long as its session lives.
struct HostClaim: Sendable {
    private let group: any SharedStore
    private let epoch: Revision

    /// - Throws: With status 69 when the group has a host already, which the message names.
    init(of group: any SharedStore, with record: HostRecord) async throws {
        var transaction = Transaction()
        transaction.require(.absent(HostRecord.key))
        transaction.put(HostRecord.key, record.bytes, lifetime: .session)
        while true {
            do throws(SharedCoreError) {
                epoch = try await group.commit(transaction).revision
                self.group = group
                return
            } catch {
                guard error.guardFailure != nil else { throw error }
            }
            // Asking who is there ends the sessions of the dead.
            let sessions = try await group.sessions()
            guard let entry = try await group.get(HostRecord.key),
                let holder = sessions.first(where: { $0.id == entry.origin })
            else { continue }
            throw CommandFailure(
                .unavailable, "the group has a host already: “\(holder.name)”, pid \(holder.process.pid)")
        }
    }

    /// Says how the host is doing.
    func update(_ record: HostRecord) async throws(SharedCoreError) {
        var transaction = Transaction()
        transaction.require(.epoch(HostRecord.key, epoch))
        transaction.put(HostRecord.key, record.bytes, lifetime: .session)
        _ = try await group.commit(transaction)
    }
}
