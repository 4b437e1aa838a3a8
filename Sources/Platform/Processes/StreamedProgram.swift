internal import CoreAPI
internal import Glibc

/// A program that this process has started with streams of its own, in a session of its own, for a thread that
/// exchanges data with it. The kernel kills it when that thread ends.
///
/// Its input and its output are sockets: a write to a program that no longer reads is an error, not a signal.
package final class StreamedProgram: Sendable {
    /// The events that a thread waits for beside the program's end.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The program has printed something, or closed its output.
        package static let output = Interest(rawValue: 1)
        /// The same of the program's standard error.
        package static let errors = Interest(rawValue: 2)
        /// The program has closed its standard input.
        package static let closedInput = Interest(rawValue: 4)
        /// There is room in its input.
        package static let input = Interest(rawValue: 8)
    }

    private let program: StartedProgram
    private var handle: ProcessHandle { program.handle }
    private let input: OpenFile
    private let output: OpenFile
    private let errors: OpenFile

    /// The process number of the program.
    package var pid: Int32 { program.pid }

    /// Starts a program in the working directory of this process.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - arguments: Its arguments, without its own name.
    ///   - variables: The variables of its environment that differ from this process's.
    ///   - omitted: Variables of this process's environment that it does not inherit.
    package init(
        _ path: String, _ arguments: [String], variables: [String: String], omitting omitted: Set<String>
    ) throws(SystemCallError) {
        let (input, itsInput) = try Self.socketPair(path)
        let (output, itsOutput) = try Self.socketPair(path)
        let pipe = try Pipe()
        self.input = input
        self.output = output
        errors = pipe.output
        // A stream has one direction: writing at the wrong end must be an error.
        shutdown(input.descriptor, Int32(SHUT_RD))
        shutdown(output.descriptor, Int32(SHUT_WR))
        program = try StartedProgram(
            path, arguments, variables: variables, streams: [itsInput, itsOutput, pipe.input], directory: nil,
            ownSession: true, endsWithThread: true, omitting: omitted)
    }

    private static func socketPair(_ place: String) throws(SystemCallError) -> (own: OpenFile, its: OpenFile) {
        var ends: [Int32] = [-1, -1]
        // SOCK_CLOEXEC, which is an enumerator that Swift does not see.
        let type = Int32(SOCK_STREAM.rawValue) | 0o2000000
        _ = try SystemCall.run("socketpair", at: place) { socketpair(AF_UNIX, type, 0, &ends) }
        return (OpenFile(owning: ends[0], path: place), OpenFile(owning: ends[1], path: place))
    }

    /// Waits until the program has ended, an event of `interest` has come, or another thread has raised the counter.
    /// Blocks.
    ///
    /// - Returns: Whether it has ended, and the events.
    package func wait(
        for interest: Interest, or wake: EventCounter, timeout: Duration?
    ) -> (hasEnded: Bool, ready: Interest) {
        func entry(_ file: OpenFile, _ isWanted: Bool, _ events: Int32) -> pollfd {
            // A negative number is passed over.
            pollfd(fd: isWanted ? file.descriptor : -1, events: Int16(events), revents: 0)
        }
        var entries = [
            pollfd(fd: handle.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            entry(output, interest.contains(.output), POLLIN),
            entry(errors, interest.contains(.errors), POLLIN),
            entry(
                input, !interest.isDisjoint(with: [.input, .closedInput]), interest.contains(.input) ? POLLOUT : 0),
        ]
        let milliseconds = timeout.map { Int32(clamping: $0.millisecondsRoundedUp) } ?? -1
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return (false, []) }
        if entries[1].revents != 0 { wake.clear() }
        var ready: Interest = []
        if entries[2].revents != 0 { ready.insert(.output) }
        if entries[3].revents != 0 { ready.insert(.errors) }
        if entries[4].revents & Int16(POLLHUP | POLLERR) != 0 { ready.insert(.closedInput) }
        if entries[4].revents & Int16(POLLOUT) != 0 { ready.insert(.input) }
        return (entries[0].revents != 0, ready)
    }

    /// Reads bytes of its output, without waiting.
    ///
    /// - Returns: No bytes if it has closed its output; nil if there are none yet.
    package func receive(upTo count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(output.descriptor, &buffer, count, Int32(MSG_DONTWAIT))
        if received < 0, errno == EAGAIN || errno == EINTR { return nil }
        return Array(buffer[..<max(0, received)])
    }

    /// Reads bytes of the program's standard error. Call it only after ``wait(for:or:timeout:)`` or
    /// ``waitingErrorByteCount`` has reported some.
    ///
    /// - Returns: The bytes that were read; none if standard error is closed or cannot be read.
    package func receiveErrors(upTo count: Int) -> [UInt8] {
        (try? errors.readPart(upTo: count)) ?? []
    }

    /// The number of unread bytes of its output, and of its standard error.
    package var waitingByteCount: Int { output.waitingByteCount }
    package var waitingErrorByteCount: Int { errors.waitingByteCount }

    /// Sends bytes to its input, as many as the socket accepts, without waiting.
    ///
    /// - Returns: The number of bytes sent; nil if it has closed its input.
    package func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let sent = bytes.withUnsafeBytes {
            Glibc.send(input.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if sent >= 0 { return sent }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Tells it to end, even if it is stopped.
    package func terminate() {
        _ = try? handle.signal(.terminate)
        _ = try? handle.signal(.continue)
    }

    /// Ends it and its process group at once. Call it only before ``reap()``.
    package func kill() {
        // A child that has not become its program may not have its group yet.
        program.kill()
        program.endGroup()
    }

    /// Ends the rest of its process group, and reaps it. Call it once, after it has ended.
    package func reap() -> ProgramEnd {
        // Before it is reaped, while the id still means its group.
        program.endGroup()
        // `reap` can fail only where this process ignores SIGCHLD, so that the system has waited for the program.
        return (try? program.reap()) ?? .exited(StartedProgram.unknownStatus)
    }
}
