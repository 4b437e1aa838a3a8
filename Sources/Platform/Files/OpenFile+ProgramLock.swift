internal import CLinux
internal import Glibc

/// The lock of a whole file that belongs to a process and to the program that it becomes, but to none of its children:
/// it ends with the process, whatever else is open. A process that closes any descriptor of the file gives it back, so
/// only a process that opens the file once may use it.
extension OpenFile {
    /// Takes the lock, and leaves the file open in the program that this process becomes.
    ///
    /// - Returns: Whether this process has it now.
    package func tryLockForProgram() throws(SystemCallError) -> Bool {
        let result = clinux_lock_for_process(descriptor)
        if result == -EAGAIN { return false }
        if result < 0 { throw SystemCallError("fcntl(F_SETLK)", number: -result, at: path) }
        try SystemCall.negated("fcntl(F_SETFD)", at: path) { clinux_let_inherit(descriptor) }
        return true
    }

    /// The number of the process that has the lock; nil when none has.
    package func programLockHolder() throws(SystemCallError) -> Int32? {
        let holder = try SystemCall.negated("fcntl(F_GETLK)", at: path) { clinux_lock_holder(descriptor) }
        return holder > 0 ? holder : nil
    }
}
