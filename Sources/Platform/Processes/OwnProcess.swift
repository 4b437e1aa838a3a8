internal import CLinux
internal import Glibc

/// Calls by which a process changes or reads its own state.
package enum OwnProcess {
    /// The number of this process.
    package static var pid: Int32 { getpid() }

    /// The real user, even if the process acts as another one.
    package static var user: UInt32 { getuid() }

    /// True if the process has more rights than its parent, as a set-user-ID program has. Its environment then belongs
    /// to another user.
    package static var hasMoreRightsThanCaller: Bool { clinux_has_more_rights_than_caller() }

    /// Ends this process as `exit(3)` does: the exit handlers of libraries run.
    package static func exit(_ status: Int32) -> Never {
        Glibc.exit(status)
    }

    /// Ends this process at once: nothing is flushed, no handler runs.
    package static func end(_ status: Int32) -> Never {
        _exit(status)
    }

    /// Ends this process at once, with a line on standard error. It waits for no other thread, and at most a tenth of a
    /// second for a full pipe as standard error: then the kernel kills it.
    package static func end(_ status: Int32, saying line: String) -> Never {
        var event = sigevent()
        event.sigev_notify = Int32(SIGEV_SIGNAL)
        event.sigev_signo = SIGKILL
        var timer: timer_t?
        if timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 {
            var time = itimerspec()
            time.it_value.tv_nsec = 100_000_000
            timer_settime(timer, 0, &time, nil)
        }
        let bytes = Array(line.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        _exit(status)
    }

    /// Ignores a signal.
    package static func ignore(_ signal: ProcessSignal) {
        Glibc.signal(signal.rawValue, SIG_IGN)
    }

    /// Makes the kernel kill this process when the thread that started it ends, and so when that thread's process ends.
    /// It remains in effect after ``become(_:_:)``, unless that program runs with rights of its own.
    ///
    /// - Returns: Whether that process is still the parent.
    package static func endsWith(parent: Int32) -> Bool {
        clinux_end_with_parent(parent) == 0
    }

    /// Sets SIGCHLD and SIGQUIT to their defaults, and unblocks all signals; a SIGQUIT that was ignored at the start
    /// stays ignored. If SIGCHLD is ignored the system does not report how children have ended. The report of Swift's
    /// runtime at SIGQUIT takes seconds, after which the process may continue. A SIGTERM that the parent has left
    /// blocked would never arrive. Programs call this at their start, because running threads keep the signals that
    /// they block.
    package static func takeDefaultSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        Glibc.signal(SIGCHLD, SIG_DFL)
        if startedSignals.ignored >> (UInt64(SIGQUIT) - 1) & 1 == 0 { Glibc.signal(SIGQUIT, SIG_DFL) }
    }

    /// Waits until the parent process allows this one to begin, by a byte on a descriptor, such as standard input.
    ///
    /// - Returns: Whether it may; false if the parent has ended without sending the byte.
    package static func waitForLeave(on descriptor: Int32 = STDIN_FILENO) -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1
        }
    }

    /// Makes all threads of this process allocate from one heap. By default each gets a heap of its own, with separate
    /// pages, so that many allocating threads do not block each other, which is rare in a short-lived program.
    package static func shareHeap() {
        clinux_share_heap()
    }

    /// Returns freed memory to the system. glibc keeps it while something after it is in use. The call blocks all
    /// allocating threads for some milliseconds.
    package static func returnHeap() {
        clinux_return_heap()
    }

    /// Sets a variable of the environment of the program that this process becomes. Call it only while the process
    /// has one thread.
    package static func set(_ variable: String, to value: String) {
        setenv(variable, value, 1)
    }

    /// Replaces this process's program by another one, which is found as the shell finds it.
    ///
    /// - Parameters:
    ///   - name: The program, as bytes.
    ///   - arguments: Its arguments, without its own name.
    ///   - variables: Environment variables that differ from this process's.
    /// - Returns: The error.
    package static func become(
        _ name: [UInt8], _ arguments: [[UInt8]], variables: [String: String] = [:]
    ) -> SystemCallError {
        let words = ([name] + arguments).map(\.duplicatedCString)
        let pairs = StartedProgram.environment(with: variables).map(\.duplicatedCString)
        let number = -clinux_become(words[0], words + [nil], pairs + [nil])
        for word in words + pairs { free(word) }
        return SystemCallError("execvp", number: number, at: String(decoding: name, as: UTF8.self))
    }

    /// Disables core dumps of this process, and of those that it starts from now on.
    package static func makeNoCoreDump() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// The arguments of this process as bytes, without the program's name. Swift's `CommandLine.arguments` replaces
    /// bytes that are not UTF-8, so that two different arguments could become equal.
    package static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { [UInt8](cString: $0) }
        }
    }

    /// The variables of the environment as bytes. Entries without a `=` are omitted.
    package static var environment: [(name: [UInt8], value: [UInt8])] {
        var variables: [(name: [UInt8], value: [UInt8])] = []
        var entry = environ
        while let pair = entry.pointee {
            let bytes = [UInt8](cString: pair)
            if let end = bytes.firstIndex(of: UInt8(ascii: "=")) {
                variables.append((Array(bytes[..<end]), Array(bytes[(end + 1)...])))
            }
            entry += 1
        }
        return variables
    }

    /// Returns the value of a variable of the environment as bytes; nil if it is not set.
    package static func variable(_ name: String) -> [UInt8]? {
        environment.first { $0.name == Array(name.utf8) }?.value
    }

    /// Returns the value of a variable of the environment as text; nil if it is not set.
    package static func text(_ variable: String) -> String? {
        getenv(variable).map { String(cString: $0) }
    }

    /// Returns the path of this process's working directory, as bytes.
    ///
    /// - Throws: The reason why there is none, such as that it was removed.
    package static func workingDirectory() throws(SystemCallError) -> [UInt8] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard getcwd(&path, path.count) != nil else { throw SystemCallError("getcwd", number: errno, at: ".") }
        return path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    }

    /// The signals that a process has ignored and blocked, the first one in the lowest bit.
    package struct Signals: Hashable, Sendable {
        package let ignored: UInt64
        package let blocked: UInt64

        package init(ignored: UInt64, blocked: UInt64) {
            self.ignored = ignored
            self.blocked = blocked
        }
    }

    /// The signals that this process was started with, even if they have changed since.
    package static var startedSignals: Signals {
        var (ignored, blocked): (UInt64, UInt64) = (0, 0)
        clinux_started_signals(&ignored, &blocked)
        return Signals(ignored: ignored, blocked: blocked)
    }

    /// Ignores and blocks signals, and sets all others to their defaults. Only before ``become(_:_:)``.
    package static func set(_ signals: Signals) {
        clinux_set_signals(signals.ignored, signals.blocked)
    }
}

extension [UInt8] {
    /// Copies the bytes of a C string, without the NUL at its end.
    init(cString: UnsafePointer<CChar>) {
        self = UnsafeBufferPointer(start: cString, count: strlen(cString)).map(UInt8.init(bitPattern:))
    }

    /// A copy with a NUL at its end, which the caller frees.
    var duplicatedCString: UnsafeMutablePointer<CChar>? {
        strdup(map(CChar.init(bitPattern:)) + [0])
    }
}

/// The program that this process runs.
package enum OwnProgram {
    /// The path at the first call. Another version may have replaced the program later.
    ///
    /// - Throws: The error of finding it, such as that there is no /proc.
    package static var path: String {
        get throws(SystemCallError) { try found.get() }
    }

    /// Returns the path of a program in the same directory.
    package static func sibling(_ name: String) throws(SystemCallError) -> String {
        try Directory.parts(of: path).directory + "/" + name
    }

    private static let found: Result<String, SystemCallError> = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return .failure(SystemCallError("readlink", number: errno, at: "/proc/self/exe")) }
        return .success(String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }()
}
