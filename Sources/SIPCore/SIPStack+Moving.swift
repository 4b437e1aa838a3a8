#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI
    internal import Platform

    /// Calls that move to the next core (contract C25).
    extension SIPStack {
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
                // A BYE that came meanwhile is answered here. The new core learns of it from the answer to its INVITE.
                sip_stack_drain(stack, 250)
            } else if end.isOwn {
                sip_stack_finish(stack, 2_000)
            }
        }

        /// Takes over the calls of a former core, and continues them.
        func adopt(on loop: LoopContext) throws {
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

        /// Makes the calls of a baton, and sends nothing. Returns no calls if one of them cannot be made.
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
    }
#endif
