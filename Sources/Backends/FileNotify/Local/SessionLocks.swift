internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// The locks on bytes of the file `sessions` that this process's participants hold, and queries for those of other
/// processes.
///
/// The kernel releases a byte when its process ends in any way. There are two open file descriptions: one holds the
/// locks, the other queries them, because a description does not see its own.
final class SessionLocks: Sendable {
    /// The range of the bytes: behind the first page.
    static let bytes = MappedPage.byteCount..<1 << 62

    /// Nil for a reader, which holds no locks.
    private let holding: OpenFile?
    private let looking: OpenFile
    private let held = Mutex<Set<Int>>([])

    init(in directory: Directory, access: FileGroupOptions.Access) throws(SystemCallError) {
        holding = access == .readOnly ? nil : try OpenFile(GroupPage.fileName, in: directory, .write, closing: .lock)
        looking = try OpenFile(GroupPage.fileName, in: directory, .read)
    }

    /// Locks a free byte, and returns its offset.
    func acquire() throws(SystemCallError) -> Int {
        guard let holding else {
            throw SystemCallError("fcntl(F_OFD_SETLK)", number: SystemCallError.Number.accessDenied, at: looking.path)
        }
        while true {
            let byte = Int.random(in: Self.bytes)
            guard held.withLock({ $0.insert(byte).inserted }) else { continue }
            do throws(SystemCallError) {
                if try holding.tryLock(byteAt: byte) { return byte }
            } catch {
                _ = held.withLock { $0.remove(byte) }
                throw error
            }
            _ = held.withLock { $0.remove(byte) }
        }
    }

    func release(_ byte: Int) {
        guard held.withLock({ $0.remove(byte) }) != nil else { return }
        holding?.unlock(byteAt: byte)
    }

    /// Returns whether any process holds a byte, this one included.
    func isHeld(_ byte: Int) throws(SystemCallError) -> Bool {
        if Defect.lockingProbe.isPresent, let holding { return try !holding.tryLock(byteAt: byte) }
        return try looking.isLocked(byteAt: byte)
    }

    /// Returns whether a process holds a byte. Returns false for a reader, which cannot prove it.
    func isHeld(_ byte: Int, byProcess pid: Int32) throws(SystemCallError) -> Bool {
        guard let holding else { return false }
        return try ProcessLocks.holds(byte, ofFileOf: holding, process: pid)
    }

    /// Returns whether this process holds a byte.
    func isHeldHere(_ byte: Int) -> Bool {
        held.withLock { $0.contains(byte) }
    }
}

extension SessionMark {
    /// True if the process number of the session is valid in this process's namespace. If the namespace is unknown, as
    /// without /proc, numbers are not used and only the locked byte counts.
    var namesProcess: Bool {
        processNamespace != 0 && processNamespace == ProcessIdentity.currentNamespace
    }
}
