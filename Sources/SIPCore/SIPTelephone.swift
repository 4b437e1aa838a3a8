#if SIP
    public import Coordination
    public import CoreAPI
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
    /// the sender. An incoming call is a record of the group that begins as `ringing`, and obeys the commands of ``Calls``.
    ///
    /// Source: RFC 3261, RFC 3428.
    public final class SIPTelephone: Sendable {
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
            /// A call has ended, with the counts of its RTP packets.
            case ended(CallID, Call.EndReason, sent: Int, received: Int)
        }

        let account: SIPAccount
        private let onEvent: (@Sendable (Event) -> Void)?
        private let running = Mutex<LoopContext?>(nil)

        /// A telephone. It does nothing before one of its cores starts.
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

        /// Sends a text as a MESSAGE. Returns when the other side or its server has accepted it. Cancellation of the task does not
        /// end the wait.
        ///
        /// - Parameters:
        ///   - text: The text, in UTF-8.
        ///   - address: A `sip:` or `sips:` URI of at most 512 bytes.
        /// - Throws: ``SharedCoreError/Code/unavailable`` if no core of this telephone runs in this process, if the core ends
        ///   before the answer, and if the answer is not 2xx: the message has its status.
        ///   ``SharedCoreError/Code/invalidArgument`` for another address, or a text with a NUL.
        public func send(_ text: String, to address: String) async throws(SharedCoreError) {
            guard address.utf8.count <= 512, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                address.hasPrefix("sip:") || address.hasPrefix("sips:"),
                !address.contains(where: { "<>\",".contains($0) })
            else {
                throw SharedCoreError(.invalidArgument, "A SIP address is a URI, as sip:bob@example.org.", at: address)
            }
            guard !text.utf8.contains(0) else {
                throw SharedCoreError(.invalidArgument, "The text has a NUL.", at: address)
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

    /// The final answer to a request.
    struct SIPAnswer: Sendable {
        let status: Int
        let phrase: String
    }
#endif
