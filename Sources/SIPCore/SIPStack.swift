#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI

    /// The stack in C under a `LoopCore`: its callbacks become messages and calls of the group.
    final class SIPStack: LoopStack {
        let telephone: SIPTelephone
        private(set) var stack: OpaquePointer?
        private(set) var loop: LoopContext?
        var calls: [UInt64: OpenCall] = [:]
        /// The calls that this side holds, and those that the other side holds.
        var holding: Set<UInt64> = []
        var heldByOther: Set<UInt64> = []
        /// The commands to hold or to resume a call with an INVITE under way, by the call's number.
        var changes: [UInt64: ReceivedCallCommand] = [:]
        /// The status of the last registration, so that the timeline has one entry for a row of equal failures.
        private var lastStatus = 200
        /// True if another core has the calls, and the contact.
        var hasGiven = false

        init(_ telephone: SIPTelephone) {
            self.telephone = telephone
        }

        // MARK: The loop

        func start(on loop: LoopContext) throws {
            self.loop = loop
            let key = try contactKey
            let former = try loop.wait { context in try await context.store.get(key) }
            try open()
            try adopt(on: loop)
            guard let contact = sip_stack_contact(stack) else {
                throw SharedCoreError(.unavailable, "The SIP stack has no Contact.", at: telephone.account.address)
            }
            // A killed core leaves its contact. The request that binds this core's contact removes it (decision 49).
            let formerLines = former.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
            let lines = SIPText.lines(formerLines + String(cString: contact) + "\n", upTo: 8_192)
            try loop.wait { context in _ = try await context.store.put(key, Array(lines.utf8)) }
            sip_stack_register(stack, lines)
            telephone.began(self, on: loop)
        }

        func prepare() -> LoopWait {
            let milliseconds = sip_stack_step(stack)
            let descriptor = sip_stack_descriptor(stack)
            guard descriptor >= 0 else { return .every(.milliseconds(20)) }
            return LoopWait(
                for: [LoopDescriptor(descriptor, .readable)],
                atMost: milliseconds < 0 ? nil : .milliseconds(milliseconds))
        }

        func dispatch(_ ready: [LoopDescriptor]) {}  // `prepare` works, also for the timers that a `perform` has set

        func stop(_ request: StopRequest) {
            for (number, call) in calls {
                let isRefused = sip_call_refuse(stack, number, 480) == 0
                finish(call, number, isRefused ? .missed : .hungUp)
            }
            sip_stack_unregister(stack)  // hangs up what is open; `stopped` ends the loop
        }

        func close() {
            telephone.ended(self)
            if let stack { sip_stack_destroy(stack) }
        }

        // MARK: Requests of the application

        func send(_ text: String, to address: String, _ number: UInt64) {
            guard sip_stack_send(stack, number, address, "text/plain;charset=utf-8", text) < 0 else { return }
            telephone.answered(number, .status(500, "Cannot be sent"))
        }

        // MARK: Events of the stack

        fileprivate func registered(_ status: Int, _ phrase: String, own: Int, all: Int) {
            guard status == 200 else {
                telephone.tell(.registrationFailed(status: status, phrase: phrase))
                if status != lastStatus { loop?.report("not registered: \(status) \(phrase.prefix(128))") }
                lastStatus = status
                return
            }
            lastStatus = 200
            telephone.tell(.registered(contacts: own, ofAccount: all))
            if own == 1, let contact = sip_stack_contact(stack) { keep(String(cString: contact) + "\n") }
        }

        fileprivate func stopped(_ status: Int) {
            if hasGiven { return }
            if status == 200 { keep(nil) }
            telephone.tell(.unregistered(status: status))
            loop?.end()
        }

        /// Stores the list of contacts that may be registered; nil for none.
        private func keep(_ contacts: String?) {
            guard let key = try? contactKey else { return }
            do {
                try loop?.wait { context in
                    if let contacts {
                        if try await context.store.get(key)?.value == Array(contacts.utf8) { return }
                        _ = try await context.store.put(key, Array(contacts.utf8))
                    } else {
                        _ = try await context.store.delete(key)
                    }
                }
            } catch {
                loop?.report("the contact is not recorded: \(error)")
            }
        }

        private var contactKey: Key {
            get throws { try Key("sip/\(telephone.account.user)@\(telephone.account.domain)/contact") }
        }

        /// Stores a message, and returns the status to answer with: a server keeps a message until the status is 2xx.
        fileprivate func received(_ message: sip_message) -> Int32 {
            guard let loop, let id = SIPText.identity(of: message) else { return 400 }
            let type = SIPText.of(message.content_type)
            guard var content = SIPText.content(of: message, type: type) else { return 415 }
            content.account = telephone.account.address
            do {
                do {
                    let inbox = InboxMessage(id: id, content: content)
                    if try loop.deliver(inbox) == .stored, content.kind != .nothing { telephone.tell(.message(inbox)) }
                } catch  where error.code == .limitExceeded {
                    let notice = InboxMessage.Content.tooLarge(from: content.sender, to: content.recipient)
                    try loop.deliver(InboxMessage(id: id, content: notice))
                }
                return 200
            } catch {
                return error.code == .invalidArgument ? 400 : 480
            }
        }

        // MARK: Making the stack

        /// Makes the stack in C. Nothing is sent before it steps.
        func open() throws {
            stack = try create()
        }

        /// Returns true if a dialog makes a call, for tests.
        func makeCall(from dialog: SIPDialog, _ descriptor: Int32) -> Bool {
            guard let number = dialog.adopt(into: stack, descriptor) else { return false }
            sip_call_forget(stack, number)
            sip_stack_step(stack)
            return true
        }

        private func create() throws -> OpaquePointer {
            let account = telephone.account
            var certificates: String?
            var name: String?
            var transport = SIP_STACK_UDP
            switch account.transport {
            case .udp: break
            case .tcp: transport = SIP_STACK_TCP
            case .tls(let folder, let subject): (transport, certificates, name) = (SIP_STACK_TLS, folder, subject)
            }
            let texts = SIPTexts([
                account.user, account.domain, account.password.text, account.registrar, account.instance,
                account.contactParameters, certificates, name, account.localAddress,
            ])
            defer { texts.free() }
            var described = sip_account()
            described.user = texts[0]
            described.domain = texts[1]
            described.password = texts[2]
            described.host = texts[3]
            described.port = account.port
            described.transport = Int32(transport.rawValue)
            described.instance = texts[4]
            described.contact_parameters = texts[5]
            described.certificates = texts[6]
            described.name = texts[7]
            described.local_address = texts[8]
            described.expires = UInt32(account.expires.components.seconds)
            let callbacks = sip_callbacks(
                user: Unmanaged.passUnretained(self).toOpaque(),
                registered: { user, status, phrase, own, all, _ in
                    SIPStack.of(user).registered(Int(status), SIPText.of(phrase), own: Int(own), all: Int(all))
                },
                stopped: { user, status in SIPStack.of(user).stopped(Int(status)) },
                message: { user, message in message.map { SIPStack.of(user).received($0.pointee) } ?? 500 },
                sent: { user, number, status, phrase in
                    SIPStack.of(user).telephone.answered(number, .status(Int(status), SIPText.of(phrase)))
                },
                invited: { user, number, id, from, to in
                    SIPStack.of(user).invited(
                        number, id: SIPText.of(id), from: SIPText.of(from), to: SIPText.of(to))
                },
                held: { user, number, isHeld in SIPStack.of(user).held(number, isHeld != 0) },
                hold_answered: { user, number, status in SIPStack.of(user).holdAnswered(number, Int(status)) },
                rings: { user, number in SIPStack.of(user).note(number, .ringing) },
                answered: { user, number in SIPStack.of(user).note(number, .answered) },
                refused: { user, number, status, phrase in
                    SIPStack.of(user).refused(number, Int(status), SIPText.of(phrase))
                },
                moves: { user, number, canMove in SIPStack.of(user).moves(number, canMove != 0) ? 0 : -1 },
                ended: { user, number, reason in SIPStack.of(user).ended(number, reason) })
            var problem = [CChar](repeating: 0, count: 256)
            guard let made = sip_stack_create(&described, callbacks, &problem, problem.count) else {
                let text = String(decoding: problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                throw SharedCoreError(.unavailable, "The SIP stack cannot start: \(text).", at: account.address)
            }
            return made
        }

        private static func of(_ user: UnsafeMutableRawPointer?) -> SIPStack {
            // The stack in C passes on the pointer that `create` gives it. Without it there is no object to report to.
            guard let user else { fatalError("The SIP stack called back without its pointer.") }
            return Unmanaged<SIPStack>.fromOpaque(user).takeUnretainedValue()
        }
    }
#endif
