internal import CLinux
internal import Glibc

/// Locks of single bytes. They belong to the open file description: the kernel takes them back when its last descriptor
/// is closed, by whatever end of the process, and nothing else that the process closes matters. One description gives
/// no exclusion between its own threads.
extension OpenFile {
    /// Takes the lock of a byte when it is free. Needs a file that is open for writing.
    ///
    /// - Returns: Whether this description has the lock now.
    package func tryLock(byteAt offset: Int) throws(SystemCallError) -> Bool {
        if Defect.processLocks.isPresent { return changeProcessLock(F_WRLCK, at: offset) }
        let result = clinux_lock_byte(descriptor, Int64(offset))
        if result == -EAGAIN { return false }
        if result < 0 { throw SystemCallError("fcntl(F_OFD_SETLK)", number: -result, at: path) }
        return true
    }

    /// Gives the lock of a byte back. It can only fail for a descriptor that is not open, which this one always is.
    package func unlock(byteAt offset: Int) {
        if Defect.processLocks.isPresent { _ = changeProcessLock(F_UNLCK, at: offset) }
        let result = clinux_unlock_byte(descriptor, Int64(offset))
        precondition(result == 0 || result == -ENOLCK, "A lock of an open file can always be given back: \(path)")
    }

    /// Whether another description has the byte locked. Takes nothing and is seen by nobody, so it also works on the
    /// file of a process that is stopped. A description never sees its own locks: ask through another one.
    package func isLocked(byteAt offset: Int) throws(SystemCallError) -> Bool {
        try SystemCall.negated("fcntl(F_OFD_GETLK)", at: path) { clinux_probe_byte(descriptor, Int64(offset)) } == 1
    }
}
