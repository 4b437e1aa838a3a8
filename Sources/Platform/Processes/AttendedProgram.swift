internal import CLinux
internal import Glibc
internal import Synchronization

/// A program that this process has started in its own place, with its streams and in its process group, and whose end it
/// waits for.
package final class AttendedProgram: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    /// Its process number.
    package let pid: Int32
    private let state = Mutex(State())

    private init(pid: Int32) {
        self.pid = pid
    }

    /// Starts a program.
    ///
    /// It is started by a thread that lives for as long as the program does: the kernel tells a child of the end of the
    /// thread that made it (``OwnProcess/endsWith(parent:)``), not of the process.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - arguments: What it is given, without its own name.
    ///   - defaults: The signals that do what they do by default there, though they are ignored here.
    package static func start(
        _ path: String, _ arguments: [String], defaults: [Int32] = []
    ) async throws(SystemCallError) -> AttendedProgram {
        let result: Result<AttendedProgram, SystemCallError> = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try OwnedThread.start("command") {
                    switch spawn(path, arguments, defaults) {
                    case .success(let pid):
                        let program = AttendedProgram(pid: pid)
                        continuation.resume(returning: .success(program))
                        program.attend()
                    case .failure(let error): continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ defaults: [Int32]
    ) -> Result<Int32, SystemCallError> {
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        do throws(SystemCallError) {
            return .success(
                try SystemCall.negated("posix_spawn", at: path) {
                    clinux_start_attended(path, words + [nil], environ, defaults, Int32(defaults.count))
                })
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the end without reaping, so that the reaping is done under the lock: until then the number means it.
    private func attend() {
        while clinux_wait_for_end(pid) == -EINTR {}
        let (waiting, status) = state.withLock { state in
            let status = clinux_wait_for_child(pid)
            state.status = status
            defer { state.waiting = [] }
            return (state.waiting, status)
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }

    /// Sends it a signal, by its number; to nobody when it has ended.
    package func signal(_ number: Int32) {
        state.withLock { state in
            if state.status == nil { kill(pid, number) }
        }
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    package func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiting.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
