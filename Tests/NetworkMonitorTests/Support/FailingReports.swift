internal import Glibc
internal import Platform
internal import Synchronization

/// The kernel's reports, with calls that fail as they do for a lack of memory.
final class FailingReports: RouteReports {
    private let socket: RouteSocket
    private let failures = Mutex(0)
    private let calls = Mutex(0)

    init() throws {
        socket = try RouteSocket()
    }

    /// The number of calls.
    var callCount: Int { calls.withLock { $0 } }
    /// The number of next calls that still fail.
    var remaining: Int { failures.withLock { $0 } }

    /// Lets the next calls fail.
    func failNext(_ count: Int) {
        failures.withLock { $0 = count }
    }

    /// Lets the kernel send something, as an answer without a request.
    func provoke() throws {
        try socket.ask(for: .links, sequence: 4_000_000_000)
    }

    var descriptor: Int32 { socket.descriptor }

    func ask(for kind: RouteSocket.Kind, sequence: UInt32) throws(SystemCallError) {
        try failIfDue()
        try socket.ask(for: kind, sequence: sequence)
    }

    func take() throws(SystemCallError) -> RouteSocket.Taken? {
        try failIfDue()
        return try socket.take()
    }

    private func failIfDue() throws(SystemCallError) {
        calls.withLock { $0 += 1 }
        let isDue = failures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
        }
        if isDue { throw SystemCallError("recvmsg", number: ENOMEM, at: "test") }
    }
}
