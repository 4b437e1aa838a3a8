internal import CLinux
internal import Glibc

/// Locks of single bytes. They belong to the open file description: the kernel releases them when its last descriptor
/// is closed, by any end of the process; closing other descriptors has no effect. One description does not exclude the
/// threads that share it.
extension OpenFile {
    /// Takes the lock of a byte if it is free. Needs a file that is open for writing.
    ///
    /// - Returns: Whether this description has the lock now.
    package func tryLock(byteAt offset: Int) throws(SystemCallError) -> Bool {
        if Defect.processLocks.isPresent { return changeProcessLock(F_WRLCK, at: offset) }
        let result = clinux_lock_byte(descriptor, Int64(offset))
        if result == -EAGAIN { return false }
        if result < 0 { throw SystemCallError("fcntl(F_OFD_SETLK)", number: -result, at: path) }
        return true
    }

    /// Releases the lock of a byte. A local file system refuses that only if it must divide a range and has no memory;
    /// a remote one or FUSE may refuse at any time. Then the description has the lock until it is closed, and other
    /// processes treat its holder as stopped.
    package func unlock(byteAt offset: Int) {
        if Defect.processLocks.isPresent { _ = changeProcessLock(F_UNLCK, at: offset) }
        _ = clinux_unlock_byte(descriptor, Int64(offset))
    }

    /// Returns whether another description has the byte locked. It takes no lock and is invisible to other processes,
    /// so it also works on the file of a stopped process. A description never sees its own locks: use another one.
    package func isLocked(byteAt offset: Int) throws(SystemCallError) -> Bool {
        try SystemCall.negated("fcntl(F_OFD_GETLK)", at: path) { clinux_probe_byte(descriptor, Int64(offset)) } == 1
    }
}

extension OpenFile {
    /// Returns the bytes of a range that other descriptions have locked one by one, in ascending order.
    ///
    /// The kernel reports one locked byte of a range, not necessarily the first; so each one found divides the range,
    /// and the parts are queried again. A lock that is taken or released meanwhile may or may not be included.
    package func lockedBytes(in range: Range<Int>) throws(SystemCallError) -> [Int] {
        var found: [Int] = []
        var rest = [range]
        while let part = rest.popLast() {
            guard !part.isEmpty, let byte = try lockedByte(in: part) else { continue }
            found.append(byte)
            rest.append(part.lowerBound..<byte)
            rest.append(byte + 1..<part.upperBound)
        }
        return found.sorted()
    }

    /// Returns any byte of a range that another description has locked; nil if there is none.
    package func lockedByte(in range: Range<Int>) throws(SystemCallError) -> Int? {
        var found: Int64 = 0
        let isLocked = try SystemCall.negated("fcntl(F_OFD_GETLK)", at: path) {
            clinux_find_locked_byte(descriptor, Int64(range.lowerBound), Int64(range.count), &found)
        }
        // A lock may be longer than a byte and begin before the range.
        return isLocked == 1 ? max(range.lowerBound, Int(found)) : nil
    }

    /// Returns whether any process has the file open for writing. Needs a file that is open for reading only, of this
    /// user.
    ///
    /// - Throws: An error of `fcntl(F_SETLEASE)` if the file system cannot tell.
    package func hasWriters() throws(SystemCallError) -> Bool {
        try SystemCall.negated("fcntl(F_SETLEASE)", at: path) { clinux_probe_writers(descriptor) } == 1
    }
}

/// The lock of a whole file that belongs to a process and to the program that it becomes, but to none of its children. The
/// lock ends with the process. A process that closes any descriptor of the file loses the lock, so only a process that
/// opens the file once may use it.
extension OpenFile {
    /// Takes the lock, and leaves the file open in the program that this process becomes.
    ///
    /// - Returns: Whether this process has the lock now.
    package func tryLockForProgram() throws(SystemCallError) -> Bool {
        let result = clinux_lock_for_process(descriptor)
        if result == -EAGAIN { return false }
        if result < 0 { throw SystemCallError("fcntl(F_SETLK)", number: -result, at: path) }
        try SystemCall.negated("fcntl(F_SETFD)", at: path) { clinux_let_inherit(descriptor) }
        return true
    }

    /// Returns the number of the process that has the lock; nil if there is none.
    package func programLockHolder() throws(SystemCallError) -> Int32? {
        let holder = try SystemCall.negated("fcntl(F_GETLK)", at: path) { clinux_lock_holder(descriptor) }
        return holder > 0 ? holder : nil
    }
}

/// The defect ``Defect/processLocks``: locks that belong to the process and not to the open file description, so that
/// closing any descriptor of the file releases them.
extension OpenFile {
    /// Takes or releases the lock of a byte.
    ///
    /// - Returns: Whether the call succeeded.
    func changeProcessLock(_ type: Int32, at offset: Int) -> Bool {
        #if FAIL_POINTS
            var range = flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: offset, l_len: 1, l_pid: 0)
            return fcntl(descriptor, F_SETLK, &range) == 0
        #else
            return false
        #endif
    }
}
