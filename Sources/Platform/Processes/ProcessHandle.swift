internal import CLinux
package import CoreAPI
internal import Glibc

/// A process that existed when the handle was opened. Its number cannot be reused while the handle is open, so
/// processes are only signalled through handles.
package final class ProcessHandle: Sendable {
    /// The process.
    package let identity: ProcessIdentity
    /// The descriptor to poll for reading: readable when the process has ended, even before its parent has reaped it.
    package let descriptor: Int32

    /// Opens the process, then checks its identity.
    ///
    /// - Throws: The reason why there is no handle: the process is dead, or cannot be seen from here.
    package init(_ identity: ProcessIdentity) throws(ProcessUnreachable) {
        guard identity.bootID == SystemClock.currentBootID else { throw .dead }
        let result = clinux_open_process(identity.pid)
        // No process has the number, or it belongs to a thread of one.
        if result == -ESRCH || result == -EINVAL { throw .dead }
        guard result >= 0 else {
            throw .unknown(SystemCallError("pidfd_open", number: -result, at: "process \(identity.pid)"))
        }
        let unproved: ProcessUnreachable?
        switch ProcessIdentity.startTime(of: identity.pid) {
        case .success(let found): unproved = found == identity.startTime ? nil : .dead
        // The process may have ended just now, or its record cannot be seen, as without /proc.
        case .failure(let error): unproved = Poll.wait(for: [result], timeout: .zero)[0] ? .dead : .unknown(error)
        }
        if let unproved {
            Glibc.close(result)
            throw unproved
        }
        self.identity = identity
        self.descriptor = result
    }

    /// Takes over the descriptor of a process that this one has started, and which may have been reaped since.
    ///
    /// The start time of its identity is 0 if it was reaped.
    ///
    /// - Throws: If it was not reaped, and its start time cannot be read. The descriptor is closed then.
    package init(owning descriptor: Int32, ofChild pid: Int32) throws(SystemCallError) {
        let found = ProcessIdentity.startTime(of: pid)
        // After the child was reaped its number may belong to another process. A zombie can still be signalled.
        let isReaped = clinux_signal_process(descriptor, 0) == -ESRCH
        if !isReaped, case .failure(let error) = found {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        identity = ProcessIdentity(
            bootID: SystemClock.currentBootID, pid: pid, startTime: isReaped ? 0 : (try? found.get()) ?? 0)
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// The real user of the process, even if its program file has given it other rights; nil if that cannot be seen.
    package var user: UInt32? {
        guard
            let line = OpenFile.text(of: "/proc/\(identity.pid)/status")?.split(separator: "\n")
                .first(where: { $0.hasPrefix("Uid:") })
        else { return nil }
        return line.split(separator: "\t").dropFirst().first.flatMap { UInt32($0) }
    }

    /// True if the process runs for the user of this one; false if that cannot be seen.
    package var isOfOwnUser: Bool { user == getuid() }

    /// True after the process has ended. A zombie has ended.
    package var hasEnded: Bool {
        Poll.wait(for: [descriptor], timeout: .zero)[0]
    }

    /// Reads the process's output from a stream. Blocks until the stream is closed, the process has ended, or the
    /// deadline has passed.
    ///
    /// - Parameters:
    ///   - stream: The end to read from. Another process may still have the other end after this process has ended.
    ///   - count: The number of bytes that are kept, from the beginning.
    /// - Returns: The bytes; nil at the deadline.
    package func output(
        _ stream: OpenFile, keeping count: Int, until deadline: ContinuousClock.Instant
    ) -> [UInt8]? {
        var content: [UInt8] = []
        while true {
            let ready = Poll.wait(for: [descriptor, stream.descriptor], until: deadline)
            guard ready.contains(true) else { return nil }
            // After its end all of its output is available, and there is nothing to wait for.
            let size = ready[0] ? stream.waitingByteCount : 4 << 10
            let part = (try? stream.readPart(upTo: size)) ?? []
            content += part.prefix(count - content.count)
            if ready[0] || part.isEmpty { return content }
        }
    }

    /// Sends a signal.
    ///
    /// - Returns: Whether the process still existed.
    @discardableResult
    package func signal(_ signal: ProcessSignal) throws(SystemCallError) -> Bool {
        let result = clinux_signal_process(descriptor, signal.rawValue)
        if result == -ESRCH { return false }
        if result < 0 { throw SystemCallError("pidfd_send_signal", number: -result, at: "process \(identity.pid)") }
        return true
    }
}

/// A signal.
package struct ProcessSignal: RawRepresentable, Hashable, Sendable {
    /// The number of the signal.
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Ends the process at once.
    package static let kill = ProcessSignal(rawValue: SIGKILL)
    /// Asks the process to end, as a service manager does.
    package static let terminate = ProcessSignal(rawValue: SIGTERM)
    /// Asks the process to end, as Control-C at the terminal does.
    package static let interrupt = ProcessSignal(rawValue: SIGINT)
    /// Asks the process to end and to leave a core dump, as Control-\ at the terminal does.
    package static let quit = ProcessSignal(rawValue: SIGQUIT)
    /// The terminal was closed.
    package static let hangUp = ProcessSignal(rawValue: SIGHUP)
    /// The first of two signals with a meaning defined by the program.
    package static let user1 = ProcessSignal(rawValue: SIGUSR1)
    /// The second of two signals with a meaning defined by the program.
    package static let user2 = ProcessSignal(rawValue: SIGUSR2)
    /// Stops the process.
    package static let stop = ProcessSignal(rawValue: SIGSTOP)
    /// Resumes a stopped process.
    package static let `continue` = ProcessSignal(rawValue: SIGCONT)
    /// Stops the process, as Control-Z at the terminal does.
    package static let terminalStop = ProcessSignal(rawValue: SIGTSTP)
    /// The terminal has another size.
    package static let windowChange = ProcessSignal(rawValue: SIGWINCH)
    /// A write to a pipe or a socket without a reader.
    package static let brokenPipe = ProcessSignal(rawValue: SIGPIPE)
}

/// The reason why a process could not be opened.
package enum ProcessUnreachable: Error, Hashable, Sendable {
    /// The process has ended; its number may belong to another process by now.
    case dead
    /// The process cannot be seen from here.
    case unknown(SystemCallError)
}
