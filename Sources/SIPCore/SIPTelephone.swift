#if SIP
    public import Coordination
    public import CoreAPI
    internal import Platform
    internal import Synchronization

    /// A telephone of one account. It makes the cores, and sends through the core that runs in this process.
    ///
    /// ```swift
    /// let telephone = try SIPTelephone(account)
    /// try await group.withMain(core: { telephone.makeCore() }) { _ in
    ///     try await telephone.send("Tea?", to: "sip:bob@example.org")
    /// }
    /// ```
    ///
    /// A received message is in the inbox of the group before the sender gets 200. Its identity is the Call-ID and the CSeq of
    /// the sender. A call is a record of the group, and obeys the commands of
    /// ``Calls``; an incoming one begins as `ringing`.
    ///
    /// Source: RFC 3261, RFC 3428.
    public final class SIPTelephone: Sendable {
        /// The kind of the baton with which a call moves to the next core, for ``CoordinationOptions/takesBatons``.
        ///
        /// Source: contract C25.
        public static let batonKind = "sip-call/1"

        /// An event of the core that runs in this process.
        public enum Event: Hashable, Sendable {
            /// The registrar has bound the contact. `contacts` of this telephone are bound, usually 1, and `ofAccount` of all
            /// telephones of the account.
            case registered(contacts: Int, ofAccount: Int)
            /// A registration has failed and is repeated after 1 to 30 s. Status 0: no answer.
            case registrationFailed(status: Int, phrase: String)
            /// The core has stopped. Status 200: the registrar has removed the contact.
            case unregistered(status: Int)
            /// A message was stored. The application shows it and acknowledges it with
            /// ``MainParticipant/acknowledge(_:)-(MessageID)``.
            case message(InboxMessage)
            /// A call rings. `from` is the SIP URI of the caller.
            case ringing(CallID, from: String)
            /// A call of a former core continues in this process.
            case continued(CallID)
            /// A call has ended, with the counts of its RTP packets.
            case ended(CallID, Call.EndReason, sent: Int, received: Int)
        }

        let account: SIPAccount
        private let onEvent: (@Sendable (Event) -> Void)?
        private let state = Mutex(State())

        private struct State {
            /// The stack that runs in this process, and its loop.
            var running: (stack: ObjectIdentifier, loop: LoopContext)?
            /// The rest of that stack.
            var rest: SIPRest?
            /// The requests that wait for an answer.
            var waiting: [UInt64: CheckedContinuation<SIPAnswer, Never>] = [:]
            var lastNumber: UInt64 = 0
        }

        /// Makes a telephone. It does nothing before one of its cores starts.
        ///
        /// - Parameters:
        ///   - account: The account.
        ///   - onEvent: Called on the loop's thread. It must return at once.
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an account that breaks a rule.
        public init(_ account: SIPAccount, onEvent: (@Sendable (Event) -> Void)? = nil) throws(SharedCoreError) {
            if let problem = account.problem { throw SharedCoreError(.invalidArgument, problem, at: account.address) }
            self.account = account
            self.onEvent = onEvent
        }

        /// Returns a new core for one ownership.
        public func makeCore() -> LoopCore {
            LoopCore { SIPStack(self) }
        }

        /// Sends a text as a MESSAGE. Returns when the other side or its server has accepted it, within about 32 s. Cancellation of
        /// the task does not end the wait.
        ///
        /// - Parameters:
        ///   - text: The text, in UTF-8.
        ///   - address: A `sip:` or `sips:` URI of at most 512 bytes.
        /// - Throws: ``SharedCoreError/Code/unavailable`` if no core of this telephone runs in this process, if it rests, if no
        ///   answer comes (status 408), and for every status that is not named below: a repetition may succeed later.
        ///   ``SharedCoreError/Code/forbidden`` for 401, 403, 407 and 603. ``SharedCoreError/Code/invalidArgument`` for an address of
        ///   another form, for a text with a NUL, and for a status that means that the same request would fail again, such as 404
        ///   and 415. ``SharedCoreError/Code/outcomeUnknown`` if the core ends before the answer. The message of the error has the
        ///   status.
        public func send(_ text: String, to address: String) async throws(SharedCoreError) {
            guard !text.utf8.contains(0) else {
                throw SharedCoreError(.invalidArgument, "The text has a NUL.", at: address)
            }
            let answer = try await ask(at: address) { stack, number in stack.send(text, to: address, number) }
            guard case .status(let status, let phrase) = answer, !(200..<300).contains(status) else { return }
            throw SharedCoreError(Self.code(of: status), "The answer is \(status) \(phrase).", at: address)
        }

        /// Calls an address. Returns when the call is a record of the group, and its INVITE is under way.
        ///
        /// The record's direction is outgoing. Its state is `incoming` until the other side rings, then `ringing`, then
        /// `answered`. The command `hangUp` cancels the call before it is answered. It ends as `busy` after 486 and
        /// 600, as `declined` after 603, and as `failed` after another refusal, with that status in the reason.
        ///
        /// - Parameter address: A `sip:` or `sips:` URI of at most 512 bytes.
        /// - Throws: ``SharedCoreError/Code/unavailable`` if no core of this telephone runs in this process, if it rests or is about
        ///   to stop; ``SharedCoreError/Code/invalidArgument`` for an address of another form; ``SharedCoreError/Code/outcomeUnknown``
        ///   if the core ends before the call is a record.
        public func call(_ address: String) async throws(SharedCoreError) -> CallID {
            switch try await ask(at: address, { stack, number in stack.call(address, number) }) {
            case .begun(let id): return id
            case .failed(let error): throw error
            default: throw SharedCoreError(.outcomeUnknown, "The core ended before the call.", at: address)
            }
        }

        /// Waits until the core that rests in this process has work: a request or an answer has come, the connection has
        /// ended, or the registration must be refreshed. Then resume the Main. Returns at once if no core of this
        /// telephone rests here, and when its rest ends.
        ///
        /// ```swift
        /// try await main.rest()
        /// try await telephone.waitForWork()
        /// try await main.resume(for: .data)
        /// ```
        ///
        /// The wait may end without work. Cancellation of the task ends it.
        ///
        /// Source: contract C26.
        ///
        /// - Throws: The error of the system if it has no thread or no descriptor left.
        public func waitForWork() async throws(SharedCoreError) {
            guard let rest = state.withLock(\.rest) else { return }
            do throws(SystemCallError) {
                try await rest.wait()
            } catch {
                throw SharedCoreError(error)
            }
        }

        /// Has the stack that runs here do something, and waits for its answer.
        private func ask(
            at address: String, _ request: @escaping @Sendable (SIPStack, UInt64) -> Void
        ) async throws(SharedCoreError) -> SIPAnswer {
            guard address.utf8.count <= 512, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                address.hasPrefix("sip:") || address.hasPrefix("sips:"),
                !address.contains(where: { "<>\",".contains($0) })
            else {
                throw SharedCoreError(.invalidArgument, "A SIP address is a URI, as sip:bob@example.org.", at: address)
            }
            let answer = await withCheckedContinuation { continuation in
                let isTaken = state.withLock { state in
                    guard let loop = state.running?.loop else { return false }
                    state.lastNumber += 1
                    let number = state.lastNumber
                    let isTaken = loop.perform { [self] (stack: SIPStack) in
                        // A rest may begin while the request waits for the loop, which then does not step the stack.
                        if isAtRest { answered(number, .noCore) } else { request(stack, number) }
                    }
                    guard isTaken else { return false }
                    state.waiting[number] = continuation
                    return true
                }
                if !isTaken { continuation.resume(returning: .noCore) }
            }
            switch answer {
            case .noCore:
                throw SharedCoreError(
                    .unavailable, "No core of this telephone runs in this process, or it rests.", at: address)
            case .coreEnded:
                throw SharedCoreError(.outcomeUnknown, "The core ended before the answer.", at: address)
            default: return answer
            }
        }

        private static func code(of status: Int) -> SharedCoreError.Code {
            switch status {
            case 401, 403, 407, 603: .forbidden
            case 400, 404, 405, 410, 413...416, 420, 421, 484, 485, 488, 493, 505, 513, 604, 606: .invalidArgument
            default: .unavailable
            }
        }

        func tell(_ event: Event) { onEvent?(event) }

        /// Begins or ends the rest of the stack that runs here.
        func rests(_ rest: SIPRest?) {
            let former = state.withLock { state in
                defer { state.rest = rest }
                return state.rest
            }
            former?.finish()
        }

        private var isAtRest: Bool { state.withLock { $0.rest != nil } }

        func answered(_ number: UInt64, _ answer: SIPAnswer) {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: answer)
        }

        func began(_ stack: SIPStack, on loop: LoopContext) {
            state.withLock { $0.running = (ObjectIdentifier(stack), loop) }
        }

        /// Ends each request that waits, and the rest: a closure may have been dropped with the loop.
        func ended(_ stack: SIPStack) {
            let (waiting, rest) = state.withLock { state in
                guard state.running?.stack == ObjectIdentifier(stack) else {
                    return ([CheckedContinuation<SIPAnswer, Never>](), SIPRest?.none)
                }
                state.running = nil
                defer { (state.waiting, state.rest) = ([:], nil) }
                return (Array(state.waiting.values), state.rest)
            }
            rest?.finish()
            for continuation in waiting { continuation.resume(returning: .coreEnded) }
        }
    }

    /// The outcome of a request.
    enum SIPAnswer: Sendable {
        case status(Int, String)
        case begun(CallID)
        case failed(SharedCoreError)
        case coreEnded
        case noCore
    }
#endif
