#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI

    /// The calls of the stack in C as calls of the group.
    extension SIPStack {
        /// Begins a call. Its record is written first, so that no call begins while a Main waits for this core.
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

        func obey(_ received: ReceivedCallCommand, _ number: UInt64) throws {
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
                // If the INVITE could not be sent, the call ended before anything was answered.
                guard calls[number] != nil else { return try refuse(received, because: "The call is over.") }
                changes[number] = received
                return  // `holdAnswered` accepts it
            }
            try loop.accept(received)
        }

        private func refuse(_ received: ReceivedCallCommand, because reason: String) throws {
            try loop?.refuse(received, because: reason)
        }

        /// Ends the record of a call. If that fails, the call is lost with the ownership.
        func finish(_ call: OpenCall, _ number: UInt64, _ reason: Call.EndReason) {
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

        func invited(_ number: UInt64, id: String, from: String, to: String) -> Int32 {
            guard let loop, let callID = CallID(id) else { return 400 }
            // The same INVITE came by another way: a merged request (RFC 3261, 8.2.2.2).
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

        func held(_ number: UInt64, _ isHeld: Bool) {
            if isHeld { heldByOther.insert(number) } else { heldByOther.remove(number) }
            noteHold(number)
        }

        /// Notes the state of a call. A hold by this side takes precedence over one by the other side.
        private func noteHold(_ number: UInt64) {
            let other: Call.State = heldByOther.contains(number) ? .remotelyHeld : .answered
            note(number, holding.contains(number) ? .held : other)
        }

        /// Handles the answer of the other side to a hold or a resume.
        func holdAnswered(_ number: UInt64, _ status: Int) {
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
        func note(_ number: UInt64, _ state: Call.State) {
            guard let call = calls[number] else { return }
            do {
                // While this side holds the call it sends no media. While the other side does, that one may send music.
                try loop?.change(call, to: state, media: state == .held ? [] : .audio)
            } catch {
                loop?.report("the state of the call “\(call.id.text.prefix(64))” is not recorded: \(error)")
            }
        }

        /// Handles the refusal of a call from here.
        func refused(_ number: UInt64, _ status: Int, _ phrase: String) {
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
        func moves(_ number: UInt64, _ canMove: Bool) -> Bool {
            guard let loop, let call = calls[number] else { return false }
            do throws(SharedCoreError) {
                try loop.setMoves(canMove ? SIPTelephone.batonKind : nil, of: call)
                return true
            } catch {
                if error.code != .guardFailed { loop.report("whether the call moves is not recorded: \(error)") }
                return false
            }
        }

        func ended(_ number: UInt64, _ reason: Int32) {
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
    }
#endif
