#if SIP
    public import Coordination
    public import CoreAPI
    internal import Synchronization

    /// A telephone of one account, as an application has it: it makes the cores, and sends through the one that runs in this process.
    ///
    /// ```swift
    /// let telephone = try SIPTelephone(account)
    /// try await group.withMain(core: { telephone.makeCore() }) { _ in
    ///     try await telephone.send("Tea?", to: "sip:bob@example.org")
    /// }
    /// ```
    ///
    /// A message that its core receives is in the inbox of the group before the sender gets its 200, under the Call-ID and CSeq that the
    /// sender gave it. A call is a record of the group, rings from its beginning, and does what ``Calls`` sends it.
    public final class SIPTelephone: Sendable {
        /// What happens at the core of this process.
        public enum Event: Hashable, Sendable {
            /// The registrar has bound this contact. `contacts` of this telephone are bound, one in the regular case.
            case registered(contacts: Int, ofAccount: Int)
            /// A registration has failed, and is tried again. Status 0: no answer.
            case registrationFailed(status: Int, phrase: String)
            /// The contact is removed, or the registrar has not confirmed it.
            case unregistered(status: Int)
            /// A message was stored. The application shows it and acknowledges it with
            /// ``MainParticipant/acknowledge(_:)-(MessageID)``.
            case message(InboxMessage)
            case ringing(CallID, from: String)
            /// A call has ended, with the numbers of RTP packets.
            case ended(CallID, Call.EndReason, sent: Int, received: Int)
        }

        let account: SIPAccount
        private let onEvent: (@Sendable (Event) -> Void)?
        private let running = Mutex<LoopContext?>(nil)

        /// - Parameters:
        ///   - account: Its account.
        ///   - onEvent: Called on the loop's thread: it must return at once.
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an account that breaks a rule.
        public init(_ account: SIPAccount, onEvent: (@Sendable (Event) -> Void)? = nil) throws(SharedCoreError) {
            if let problem = account.problem { throw SharedCoreError(.invalidArgument, problem, at: account.address) }
            self.account = account
            self.onEvent = onEvent
        }

        /// Makes the core of one ownership.
        public func makeCore() -> LoopCore {
            LoopCore { SIPStack(self) }
        }

        /// Sends a text, and returns when the other side or its server has accepted it.
        ///
        /// - Parameters:
        ///   - text: The text, in UTF-8.
        ///   - address: A SIP URI.
        /// - Throws: ``SharedCoreError/Code/unavailable`` where no core of this telephone runs in this process, where it ends before the answer,
        ///   and where the answer is not 2xx: the status is in the message. ``SharedCoreError/Code/invalidArgument`` for an address with
        ///   spaces, or a text with a zero byte.
        public func send(_ text: String, to address: String) async throws(SharedCoreError) {
            guard address.utf8.count <= 512, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                address.hasPrefix("sip:") || address.hasPrefix("sips:"),
                !address.contains(where: { "<>\",".contains($0) })
            else {
                throw SharedCoreError(.invalidArgument, "A SIP address is a URI, as sip:bob@example.org.", at: address)
            }
            guard !text.utf8.contains(0) else {
                throw SharedCoreError(.invalidArgument, "A text has no zero byte.", at: address)
            }
            let answer: SIPAnswer? = await withCheckedContinuation { continuation in
                let isTaken = running.withLock { loop in
                    loop?.perform { (stack: SIPStack) in stack.send(text, to: address, continuation) } ?? false
                }
                if !isTaken { continuation.resume(returning: nil) }
            }
            guard let answer else {
                throw SharedCoreError(.unavailable, "No core of this telephone runs in this process.", at: address)
            }
            guard (200..<300).contains(answer.status) else {
                throw SharedCoreError(.unavailable, "The answer is \(answer.status) \(answer.phrase).", at: address)
            }
        }

        func tell(_ event: Event) { onEvent?(event) }

        func setRunning(_ loop: LoopContext?) { running.withLock { $0 = loop } }
    }

    struct SIPAnswer: Sendable {
        let status: Int
        let phrase: String
    }
#endif
