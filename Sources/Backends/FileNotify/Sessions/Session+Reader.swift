internal import CoreAPI
internal import Platform
internal import Synchronization

extension Session {
    private static let readerCount = Atomic<UInt64>(0)

    /// What stands for the session of a handle that only looks. It is in no order: its number is above all revisions.
    static func reader(_ description: SessionDescription, at clock: any TimeSource) -> Session {
        let number = readerCount.wrappingAdd(1, ordering: .relaxed).newValue
        let present = ProcessIdentity.current
        return Session(
            id: SessionID(rawValue: .max - number),
            process: ProcessIdentity(bootID: clock.bootID, pid: present.pid, startTime: present.startTime),
            role: description.role, name: description.name, openedAt: clock.now())
    }
}
