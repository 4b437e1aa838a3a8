internal import CLinux
internal import CoreAPI
internal import Glibc
internal import Synchronization

/// A named thread for blocking calls, which must not run on the cooperative pool. It takes no signals.
package enum OwnedThread {
    /// Starts a thread that runs `body` and ends.
    ///
    /// - Parameters:
    ///   - name: Its name; the system keeps the first 15 bytes.
    ///   - stackByteCount: The size of its stack, of which only the pages that it touches take memory.
    /// - Throws: EAGAIN when the system has no thread left.
    package static func start(
        _ name: String, stackByteCount: Int = 512 << 10, _ body: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        if let number = FailPoint.failure(of: "pthread_create", at: name) {
            throw SystemCallError("pthread_create", number: number, at: name)
        }
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackByteCount)
        var thread = pthread_t()
        let number = pthread_create(
            &thread, &attributes,
            { argument in
                // The argument is the reference that was retained for this thread.
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                clinux_block_signals()
                _ = clinux_name_thread(String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
                start.body()
                return nil
            }, start.toOpaque())
        guard number == 0 else {
            start.release()
            throw SystemCallError("pthread_create", number: number, at: name)
        }
    }

    /// Starts a thread, and returns the result of its first function. The thread continues with that result.
    ///
    /// - Throws: What the beginning throws, or as ``start(_:_:)``.
    package static func start<Value: Sendable>(
        _ name: String, beginning: @escaping @Sendable () throws(SystemCallError) -> Value,
        then: @escaping @Sendable (Value) -> Void
    ) async throws(SystemCallError) -> Value {
        let result: Result<Value, SystemCallError> = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try start(name) {
                    do throws(SystemCallError) {
                        let value = try beginning()
                        continuation.resume(returning: .success(value))
                        then(value)
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Starts a thread, and returns the result of its first function. The thread continues with that result. Blocks
    /// during the first function, which must be short.
    ///
    /// - Throws: What the beginning throws, or as ``start(_:_:)``.
    package static func start<Value: Sendable>(
        _ name: String, beginning: @escaping @Sendable () throws(SystemCallError) -> Value,
        then: @escaping @Sendable (Value) -> Void
    ) throws(SystemCallError) -> Value {
        let outcome = try Outcome<Result<Value, SystemCallError>>()
        try start(name) {
            let result = Result { () throws(SystemCallError) in try beginning() }
            outcome.set(result)
            if case .success(let value) = result { then(value) }
        }
        while true {
            if let result = outcome.wait(until: nil) { return try result.get() }
        }
    }

    /// Runs `body` on a thread of its own. A body that does not return keeps its thread.
    ///
    /// - Throws: As ``start(_:stackByteCount:_:)``.
    package static func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Value
    ) throws(SystemCallError) -> Outcome<Value> {
        let outcome = try Outcome<Value>()
        try start(name) { outcome.set(body()) }
        return outcome
    }

    /// Runs `body` on the calling thread with the signals blocked that an owned thread does not take. A SIGPIPE that `body`
    /// causes is discarded.
    static func withoutSignals(_ body: () -> Void) {
        var former = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &former)
        clinux_block_signals()
        var pending = sigset_t()
        sigpending(&pending)
        body()
        // The kernel sends a SIGPIPE to the thread that writes, where it would take effect with the former mask.
        if sigismember(&pending, SIGPIPE) == 0 {
            var pipe = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            var now = timespec()
            while sigtimedwait(&pipe, nil, &now) == -1, errno == EINTR {}
        }
        pthread_sigmask(SIG_SETMASK, &former, nil)
    }

    /// Blocks the calling thread for a time, or until a signal.
    package static func sleep(for duration: Duration) {
        usleep(UInt32(clamping: duration.clampedNanoseconds / 1000))
    }

    /// Gives the processor to another runnable thread.
    package static func yield() {
        sched_yield()
    }

    /// A value of one thread for which another waits.
    package final class Outcome<Value: Sendable>: Sendable {
        private let event: EventCounter
        private let value = Mutex<Value?>(nil)

        fileprivate init() throws(SystemCallError) {
            event = try EventCounter()
        }

        fileprivate func set(_ value: Value) {
            self.value.withLock { $0 = value }
            event.raise()
        }

        /// The value; nil while there is none.
        package var result: Value? { value.withLock { $0 } }

        /// Blocks until there is a value, or until the deadline; without a deadline, also until a signal.
        package func wait(until deadline: ContinuousClock.Instant?) -> Value? {
            if let deadline {
                _ = Poll.wait(for: [event.descriptor], until: deadline)
            } else {
                _ = Poll.wait(for: [event.descriptor], timeout: nil)
            }
            return value.withLock { $0 }
        }
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

/// The identity of a thread while it exists.
package struct ThreadIdentity: RawRepresentable, Hashable, Sendable {
    /// The system's handle; 0 for no thread.
    package let rawValue: UInt

    package init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(rawValue: UInt(pthread_self())) }
}
