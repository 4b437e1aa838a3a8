internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import Synchronization

/// A core that runs its stack in an event loop: one thread of its own polls for the stack, and only this thread calls
/// it.
///
/// ```swift
/// try await group.withMain(core: { LoopCore { MailStack(account) } }) { main in ... }
/// ```
///
/// While there is nothing to do, the thread sleeps. A callback must return within ``StopRequest/timeout`` after the core
/// is told to stop. If it does not, the process ends before its ownership passes to another core: the stack still has its
/// sockets, and a thread cannot be ended from outside. See ``StuckLoopAction``.
///
/// A loop costs two descriptors and one thread. The thread's stack has 8 MiB, of which only the used pages take memory.
/// In a group of `SharedCoreTesting` the thread uses the real clock, not the simulated one.
///
/// Source: contract C3, C4, C18.
public final class LoopCore: Core {
    private let ifStuck: StuckLoopAction
    private let makeStack: @Sendable () throws -> any LoopStack
    private let current = Mutex<LoopRun?>(nil)

    /// Makes a core for one ownership. Its thread begins with the core's start.
    ///
    /// - Parameters:
    ///   - ifStuck: The action when a callback has not returned at the end of the core's time to stop.
    ///   - makeStack: Makes the stack, on the loop's thread. Throwing fails the core's start.
    public init(ifStuck: StuckLoopAction = .endProcess, _ makeStack: @escaping @Sendable () throws -> any LoopStack) {
        self.ifStuck = ifStuck
        self.makeStack = makeStack
    }

    public func start(in context: CoreContext) async throws {
        let run: LoopRun
        do throws(SystemCallError) {
            run = try LoopRun(in: context)
        } catch {
            throw SharedCoreError(error)
        }
        let isFirst = current.withLock { current in
            defer { current = current ?? run }
            return current == nil
        }
        guard isFirst else {
            throw SharedCoreError(
                .invalidArgument, "A LoopCore is for one ownership: make a new one each time that a core is asked for.",
                at: "LoopCore")
        }
        context.giveUp.onCall { [ifStuck] in run.giveUp(ifStuck) }
        do {
            // A core that was told to stop starts no thread, even if the participant read the handler before it was
            // set.
            try Task.checkCancellation()
            try run.begin(makeStack)
        } catch {
            run.finish(.failure(error))
            throw (error as? SystemCallError).map { SharedCoreError($0) } ?? error
        }
        try await run.untilStarted()
    }

    public func iterate(in context: CoreContext) async throws {
        try await current.withLock { $0 }?.untilOver()
    }

    public func stop() async { await stop(StopRequest(.closing)) }

    public func stop(_ request: StopRequest) async {
        guard let run = current.withLock({ $0 }) else { return }
        run.stop(request)
        if await run.untilClosed() {
            await run.context.report("the stack had not stopped when three quarters of \(request.timeout) were over")
        }
    }
}

extension LoopCore {
    public func rest(in context: CoreContext) async throws {
        try await current.withLock { $0 }?.rest()
    }

    public func resume(in context: CoreContext, for wake: Wake) async throws {
        try await current.withLock { $0 }?.resume(for: wake)
    }

    public func handOver(_ request: StopRequest) async -> Baton? {
        guard let run = current.withLock({ $0 }) else { return nil }
        run.stop(request)
        if let baton = await run.untilHandedOver() { return baton }
        await stop(request)
        return nil
    }

    public func batonEnded(_ end: BatonEnd) async {
        guard let run = current.withLock({ $0 }) else { return }
        run.endBaton(end)
        _ = await run.untilClosed()
    }
}

/// The action when a callback of a loop has not returned at the end of the core's time to stop.
public enum StuckLoopAction: Hashable, Sendable {
    /// The process ends at once, with a line on standard error and status 70, while its core still owns: no second core
    /// runs beside it. Buffered output is not flushed, and no `atexit` handler runs. If the line cannot be written in
    /// 100 ms, as to a full pipe, the kernel kills the process.
    case endProcess
    /// The process runs on, and ownership is released: another core may run beside the callback that hangs, which the
    /// witness counts (contract C15). When the callback returns, the loop calls nothing but ``LoopStack/close()``.
    case giveUp
}
