internal import Glibc

/// The defect ``Defect/processLocks``: locks that belong to the process and not to the open file description, so that
/// any descriptor of the file that the process closes gives them back.
extension OpenFile {
    /// Takes the lock of a byte or gives it back.
    ///
    /// - Returns: Whether the system did.
    func changeProcessLock(_ type: Int32, at offset: Int) -> Bool {
        #if FAIL_POINTS
            var range = flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: offset, l_len: 1, l_pid: 0)
            return fcntl(descriptor, F_SETLK, &range) == 0
        #else
            return false
        #endif
    }
}
