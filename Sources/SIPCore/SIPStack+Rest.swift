#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI
    internal import Platform
    internal import Synchronization

    /// A Main that sleeps and stays registered (contract C26).
    extension SIPStack {
        /// Begins a rest. The loop does not step the stack from then on, so the stack sends nothing and no timer runs.
        func rest(in context: LoopContext) throws {
            let milliseconds = sip_stack_step(stack)
            guard sip_stack_is_idle(stack) != 0 else {
                throw SharedCoreError(
                    .unavailable, "A call or a request is open: rest when it is over.", at: telephone.account.address)
            }
            let descriptor = sip_stack_descriptor(stack)
            guard descriptor >= 0 else {
                throw SharedCoreError(
                    .unsupported, "The SIP stack has no descriptor to wait for.", at: telephone.account.address)
            }
            let rest = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try SIPRest(of: descriptor, atMost: milliseconds < 0 ? nil : .milliseconds(milliseconds))
            }
            telephone.rests(rest)
        }

        /// Ends a rest. A push announces what the registrar has not sent to this contact: it sends it after a REGISTER.
        func resume(in context: LoopContext, for wake: Wake) throws {
            telephone.rests(nil)
            if wake == .push || wake == .call { sip_stack_refresh(stack) }
        }
    }

    /// The rest of a stack: the descriptor that is readable when the stack has work, and the time of its next timer.
    final class SIPRest: Sendable {
        private let file: OpenFile
        private let end: EventCounter
        private let limit: ContinuousClock.Instant?

        init(of descriptor: Int32, atMost time: Duration?) throws(SystemCallError) {
            file = try OpenFile(duplicating: descriptor)
            end = try EventCounter()
            limit = time.map { ContinuousClock.now + $0 }
        }

        /// Ends each wait, also a later one.
        func finish() { end.raise() }

        /// Waits for work, the next timer, the end of the rest or the cancellation of the task, on a thread of its own.
        func wait() async throws(SystemCallError) {
            // A counter for each wait: the cancellation of one wait ends no other.
            let cancelled = try EventCounter()
            let failure: SystemCallError? = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    do throws(SystemCallError) {
                        try OwnedThread.start("sip-rest") { [self] in
                            let left = limit.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
                            _ = Poll.wait(
                                for: [file.descriptor, end.descriptor, cancelled.descriptor], timeout: left)
                            continuation.resume(returning: nil)
                        }
                    } catch {
                        continuation.resume(returning: error)
                    }
                }
            } onCancel: {
                cancelled.raise()
            }
            if let failure { throw failure }
        }
    }
#endif
