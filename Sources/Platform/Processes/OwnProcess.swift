internal import CLinux
internal import Glibc

/// What a process decides about itself.
package enum OwnProcess {
    /// Has the kernel kill this process when the thread that started it has ended, and with it the process of that
    /// thread. It lasts through ``become(_:_:)``, unless that program runs with rights of its own.
    ///
    /// - Returns: Whether the parent still is who it should be.
    package static func endsWith(parent: Int32) -> Bool {
        clinux_end_with_parent(parent) == 0
    }

    /// Waits until whoever started this process lets it begin, which a byte on standard input says.
    ///
    /// - Returns: Whether it may; not where that process has gone without a word.
    package static func waitForLeave() -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1
        }
    }

    /// Has all threads of this process take memory from one heap. Otherwise each gets one of its own, with pages of its own: so
    /// many threads that take memory at once are not in each other's way, which those of a short-lived program hardly are.
    package static func shareHeap() {
        clinux_share_heap()
    }

    /// Sets a variable of the environment of what this process becomes. Only while it has one thread.
    package static func set(_ variable: String, to value: String) {
        setenv(variable, value, 1)
    }

    /// Becomes another program, which is looked for where the shell looks.
    ///
    /// - Returns: Why that failed.
    package static func become(_ name: String, _ arguments: [String]) -> SystemCallError {
        let words = ([name] + arguments).map { strdup($0) }
        return SystemCallError("execvp", number: -clinux_become(name, words + [nil]), at: name)
    }

    /// Whether whoever started this process wanted a signal ignored, as long as nothing here has changed it.
    package static func ignores(signal: Int32) -> Bool {
        clinux_ignores_signal(signal)
    }
}
