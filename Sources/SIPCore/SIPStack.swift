#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI
    internal import Platform

    /// The stack in C under a `LoopCore`: its callbacks become messages and calls of the group.
    final class SIPStack: LoopStack {
        private let telephone: SIPTelephone
        private var stack: OpaquePointer?
        private var loop: LoopContext?
        private var calls: [UInt64: OpenCall] = [:]
        /// The calls that this side holds, and those that the other side holds.
        private var holding: Set<UInt64> = []
        private var heldByOther: Set<UInt64> = []
        /// The commands to hold a call or to resume it, whose INVITE is under way.
        private var changes: [UInt64: ReceivedCallCommand] = [:]
        /// The status of the last registration, so that the timeline has one entry for a row of equal failures.
        private var lastStatus = 200
        /// Whether another core has the calls, and the contact.
        private var hasGiven = false

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

        // MARK: Calls that move

        func handOver(_ request: StopRequest) throws -> Baton? {
            guard request.takes.contains(SIPTelephone.batonKind), request.batonReach == .descriptors else { return nil }
            guard 1...Baton.maximumCallCount ~= calls.count else { return nil }
            var dialogs: [SIPDialog] = []
            var descriptors: [Int32] = []
            for number in calls.keys.sorted() {
                var dialog = sip_dialog()
                guard sip_call_export(stack, number, &dialog) == 0 else { return nil }
                dialogs.append(SIPDialog(dialog))
                descriptors.append(dialog.descriptor)
            }
            let bytes = SIPDialog.bytes(of: dialogs)
            guard SIPDialog.all(in: bytes) == dialogs else { return nil }
            let baton = try Baton(
                SIPTelephone.batonKind, bytes: bytes, descriptors: descriptors, calls: calls.values.map(\.id))
            sip_stack_rest(stack)
            hasGiven = true
            telephone.ended(self)
            return baton
        }

        func batonEnded(_ end: BatonEnd) {
            calls = [:]  // their records are another core's, or over
            if end == .applied {
                // A BYE that has come meanwhile is answered here; the new core learns of it by the answer to its INVITE.
                sip_stack_drain(stack, 250)
            } else if end.isOwn {
                sip_stack_finish(stack, 2_000)
            }
        }

        /// Takes over the calls of a former core, and continues them.
        private func adopt(on loop: LoopContext) throws {
            guard let baton = loop.context.baton else { return }
            let adopted = try prepare(baton)
            guard !adopted.isEmpty else {
                return try loop.wait { _ in try await baton.refuse(because: "The core cannot read it.") }
            }
            let open: [OpenCall]
            do throws(SharedCoreError) {
                open = try loop.applyBaton { (stack: SIPStack, received) in
                    let number = stack.calls.first { $0.value.id == received.call }?.key
                    try stack.obey(received, number ?? 0)
                }
            } catch {
                for number in adopted.keys { sip_call_forget(stack, number) }
                guard error.code == .guardFailed else { throw error }
                return loop.report("continues without a call: \(error.message)")
            }
            for (number, id) in adopted {
                guard let call = open.first(where: { $0.id == id }) else {
                    _ = sip_call_hang_up(stack, number)
                    continue
                }
                calls[number] = call
                telephone.tell(.continued(id))
                guard sip_call_continue(stack, number) < 0 else { continue }
                _ = sip_call_hang_up(stack, number)
                finish(call, number, .failed("The stream does not start."))
            }
        }

        /// Makes the calls of a baton, and sends nothing. Returns none of them where one cannot be made.
        private func prepare(_ baton: ReceivedBaton) throws -> [UInt64: CallID] {
            var descriptors = try baton.takeDescriptors()[...]
            var adopted: [UInt64: CallID] = [:]
            if let dialogs = SIPDialog.all(in: baton.bytes), dialogs.count == descriptors.count {
                for dialog in dialogs {
                    guard let id = CallID(dialog.callID), baton.calls.contains(id),
                        let descriptor = descriptors.popFirst(), let number = dialog.adopt(into: stack, descriptor)
                    else { break }
                    adopted[number] = id
                    if dialog.isHolding { holding.insert(number) }
                    if dialog.isHeld { heldByOther.insert(number) }
                }
                if adopted.count == dialogs.count { return adopted }
            }
            for descriptor in descriptors { _ = OpenFile(owning: descriptor, path: "baton") }
            for number in adopted.keys { sip_call_forget(stack, number) }
            return [:]
        }

        func close() {
            telephone.ended(self)
            if let stack { sip_stack_destroy(stack) }
        }

        // MARK: What the application asks for

        func send(_ text: String, to address: String, _ number: UInt64) {
            guard sip_stack_send(stack, number, address, "text/plain;charset=utf-8", text) < 0 else { return }
            telephone.answered(number, .status(500, "Cannot be sent"))
        }

        /// Begins a call: its record first, so that none begins while a Main waits for this core.
        func call(_ address: String, _ number: UInt64) {
            guard let loop else { return }
            var text: UnsafePointer<CChar>?
            let made = sip_call_make(stack, address, &text)
            guard made != 0, let id = CallID(SIPText.of(text)) else {
                let problem = SharedCoreError(.unavailable, "The stack cannot make a call.", at: address)
                return telephone.answered(number, .failed(problem))
            }
            let call = CallDescription(
                id, .outgoing, from: telephone.account.address, to: address, account: telephone.account.address,
                media: .audio)
            do throws(SharedCoreError) {
                calls[made] = try loop.begin(call: call) { (stack: SIPStack, received) in
                    try stack.obey(received, made)
                }
            } catch {
                sip_call_forget(stack, made)
                let problem = error.code == .guardFailed ? "The core is about to stop." : error.message
                return telephone.answered(number, .failed(SharedCoreError(.unavailable, problem, at: address)))
            }
            telephone.answered(number, .begun(id))
            if sip_call_invite(stack, made) < 0 { ended(made, Int32(SIP_END_UNREACHABLE.rawValue)) }
        }

        private func obey(_ received: ReceivedCallCommand, _ number: UInt64) throws {
            guard let loop else { return }
            guard let call = calls[number] else { return try refuse(received, because: "The call is over.") }
            switch received.command {
            case .answer:
                guard sip_call_answer(stack, number) == 0 else {
                    return try refuse(received, because: "It does not ring.")
                }
                try loop.change(call, to: .answered)
            case .decline:
                guard sip_call_refuse(stack, number, 603) == 0 else {
                    return try refuse(received, because: "It does not ring.")
                }
                finish(call, number, .declined)
            case .hangUp:
                let isRinging = sip_call_refuse(stack, number, 603) == 0
                guard isRinging || sip_call_hang_up(stack, number) == 0 else {
                    return try refuse(received, because: "It is over.")
                }
                finish(call, number, isRinging ? .declined : .hungUp)
            case .hold, .resume:
                guard holding.contains(number) != (received.command == .hold) else {
                    return try refuse(received, because: "It is in that state.")
                }
                guard changes[number] == nil,
                    sip_call_hold(stack, number, received.command == .hold ? 1 : 0) == 0
                else { return try refuse(received, because: "It is not answered, or changes at this moment.") }
                // The end of the call has answered nothing where the INVITE could not be sent.
                guard calls[number] != nil else { return try refuse(received, because: "The call is over.") }
                changes[number] = received
                return  // `holdAnswered` accepts it
            }
            try loop.accept(received)
        }

        private func refuse(_ received: ReceivedCallCommand, because reason: String) throws {
            try loop?.refuse(received, because: reason)
        }

        /// Ends the record of a call. One that cannot be written is lost with the ownership.
        private func finish(_ call: OpenCall, _ number: UInt64, _ reason: Call.EndReason) {
            let counts = sip_call_media(stack, number)
            calls[number] = nil
            holding.remove(number)
            heldByOther.remove(number)
            if let change = changes.removeValue(forKey: number) { answer(change, refusedBecause: "The call is over.") }
            do {
                try loop?.change(call, to: .ended(reason))
            } catch {
                loop?.report("the end of the call “\(call.id.text.prefix(64))” is not recorded: \(error)")
            }
            telephone.tell(.ended(call.id, reason, sent: Int(counts.sent), received: Int(counts.received)))
        }

        // MARK: What the stack tells

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

        /// Writes which contacts may be bound; nil for none.
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

        /// Stores a message, and returns the status to answer with: a server keeps a message until it is 2xx.
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

        fileprivate func invited(_ number: UInt64, id: String, from: String, to: String) -> Int32 {
            guard let loop, let callID = CallID(id) else { return 400 }
            // The same INVITE by another way (RFC 3261, 8.2.2.2).
            guard !calls.values.contains(where: { $0.id == callID }) else { return 482 }
            let call = CallDescription(
                callID, .incoming, from: from, to: to, account: telephone.account.address, media: .audio)
            do {
                calls[number] = try loop.begin(call: call, in: .ringing) { (stack: SIPStack, received) in
                    try stack.obey(received, number)
                }
            } catch {
                // `guardFailed`: a Main waits for this core, or the core is to stop.
                return error.code == .invalidArgument ? 400 : 480
            }
            telephone.tell(.ringing(callID, from: from))
            return 180
        }

        fileprivate func held(_ number: UInt64, _ isHeld: Bool) {
            if isHeld { heldByOther.insert(number) } else { heldByOther.remove(number) }
            noteHold(number)
        }

        /// What this side does is recorded before what the other side does.
        private func noteHold(_ number: UInt64) {
            let other: Call.State = heldByOther.contains(number) ? .remotelyHeld : .answered
            note(number, holding.contains(number) ? .held : other)
        }

        /// The other side has taken a hold or a resume, or refused it.
        fileprivate func holdAnswered(_ number: UInt64, _ status: Int) {
            guard let change = changes.removeValue(forKey: number) else { return }
            guard status == 200 else {
                return answer(change, refusedBecause: "The other side refuses it: \(status).")
            }
            if change.command == .hold { holding.insert(number) } else { holding.remove(number) }
            noteHold(number)
            answer(change, refusedBecause: nil)
        }

        private func answer(_ change: ReceivedCallCommand, refusedBecause reason: String?) {
            do throws(SharedCoreError) {
                if let reason { try loop?.refuse(change, because: reason) } else { try loop?.accept(change) }
            } catch {
                loop?.report("the answer to “\(change.command)” is not recorded: \(error)")
            }
        }

        /// Records how far a call is.
        fileprivate func note(_ number: UInt64, _ state: Call.State) {
            guard let call = calls[number] else { return }
            do {
                try loop?.change(call, to: state)
            } catch {
                loop?.report("the state of the call “\(call.id.text.prefix(64))” is not recorded: \(error)")
            }
        }

        /// The other side has not taken a call from here.
        fileprivate func refused(_ number: UInt64, _ status: Int, _ phrase: String) {
            guard let call = calls[number] else { return }
            let reason: Call.EndReason =
                switch status {
                case 486, 600: .busy
                case 603: .declined
                default: .failed("The answer is \(status) \(phrase.prefix(64)).")
                }
            finish(call, number, reason)
        }

        /// Returns whether the group has recorded that a call can move, or that it cannot.
        fileprivate func moves(_ number: UInt64, _ canMove: Bool) -> Bool {
            guard let loop, let call = calls[number] else { return false }
            do throws(SharedCoreError) {
                try loop.setMoves(canMove ? SIPTelephone.batonKind : nil, of: call)
                return true
            } catch {
                if error.code != .guardFailed { loop.report("whether the call moves is not recorded: \(error)") }
                return false
            }
        }

        fileprivate func ended(_ number: UInt64, _ reason: Int32) {
            guard let call = calls[number] else { return }
            switch UInt32(reason) {
            case SIP_END_REMOTE_HUNG_UP.rawValue: finish(call, number, .remoteHungUp)
            case SIP_END_CANCELLED.rawValue: finish(call, number, .missed)
            case SIP_END_ANSWERED_ELSEWHERE.rawValue: finish(call, number, .answeredElsewhere)
            case SIP_END_NO_MEDIA.rawValue: finish(call, number, .failed("The other side has no PCMU or PCMA."))
            case SIP_END_UNREACHABLE.rawValue:
                finish(call, number, .failed("The other side does not answer, or refuses to continue."))
            default: finish(call, number, .failed("The caller did not confirm the answer."))
            }
        }

        // MARK: Making the stack

        /// Makes the stack in C. Nothing is sent before it steps.
        func open() throws {
            stack = try create()
        }

        /// Whether a dialog makes a call, for tests.
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
