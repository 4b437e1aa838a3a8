internal import Coordination
internal import CoreAPI
internal import Synchronization

/// The commands to a test participant about calls.
extension TestParticipantSession {
    /// The states of calls, as commands name them.
    private static let states: [String: Call.State] = [
        "incoming": .incoming, "ringing": .ringing, "answered": .answered, "held": .held,
        "remotelyHeld": .remotelyHeld, "hungUp": .ended(.hungUp), "missed": .ended(.missed),
        "declined": .ended(.declined),
    ]

    func runCall(_ command: String, _ arguments: [String]) async throws(SharedCoreError) -> String {
        let first = arguments.first ?? ""
        let second = arguments.dropFirst().first ?? ""
        switch command {
        case "call", "moving":
            guard let state = Self.states[second] else { throw Self.refused(command) }
            let call = CallDescription(
                try Self.callID(first), .incoming, from: "sip:ann", to: "sip:bob", account: "work",
                media: [.audio, .video])
            return await written { [openCalls] core throws(SharedCoreError) in
                let open = try await core.begin(
                    call: call, in: state, moves: command == "moving" ? ServedCore.batonKind : nil,
                    needs: arguments.last == "bytes" ? .bytes : .descriptors)
                openCalls.update { $0[first] = open }
            }
        case "callIs":
            guard let state = Self.states[second], let call = openCalls.value[first] else {
                throw Self.refused(command)
            }
            return await written { _ throws(SharedCoreError) in try await call.change(to: state) }
        case "callHas":
            guard let call = openCalls.value[first] else { throw Self.refused(command) }
            let media: Call.Media = second == "audio" ? .audio : []
            guard let word = arguments.dropFirst(2).first else {
                return await written { _ throws(SharedCoreError) in try await call.change(media: media) }
            }
            guard let state = Self.states[word] else { throw Self.refused(command) }
            return await written { _ throws(SharedCoreError) in try await call.change(to: state, media: media) }
        case "calls":
            return try await Calls(handle).list().map { "\($0.id)=\($0.state.word)" }.joined(separator: " ")
        case "acknowledgeCall": return String(try await Calls(handle).acknowledge(Self.callID(first)))
        case "obey":
            guard let call = openCalls.value[first] else { throw Self.refused(command) }
            let commands = try await call.commands()
            Task { [obeyed] in
                await Self.obey(commands, by: second) { word in obeyed.update { $0[first, default: []].append(word) } }
            }
            return ""
        case "batons": return batons.value.joined(separator: ", ")
        case "obeyed": return (obeyed.value[first] ?? []).joined(separator: " ")
        case "send":
            guard arguments.count == 4, let word = CallCommand.allCases.first(where: { $0.description == second })
            else { throw Self.refused(command) }
            try send(word, as: first, to: Self.callID(arguments[2]), within: .milliseconds(Int(arguments[3]) ?? 0))
            return ""
        case "sent":
            guard let task = state.withLock({ $0.sent[first] }) else { throw Self.refused(command) }
            return await task.value
        default: throw Self.refused(command)
        }
    }

    private func send(_ command: CallCommand, as number: String, to id: CallID, within timeout: Duration) {
        let task = Task { [handle] in
            do throws(CoordinationError) {
                try await Calls(handle).send(command, to: id, within: timeout)
                return "done"
            } catch {
                return "failed \(error.code)"
            }
        }
        state.withLock { $0.sent[number] = task }
    }

    private static func obey(_ commands: CallCommands, by way: String, _ note: (String) -> Void) async {
        do throws(SharedCoreError) {
            for try await received in commands {
                note(received.command.description)
                switch way {
                case "accept": try await received.accept()
                case "refuse": try await received.refuse(because: "the line is dead")
                default: break
                }
            }
        } catch {
            note("failed \(error.code)")
        }
    }

    private static func callID(_ text: String) throws(SharedCoreError) -> CallID {
        guard let id = CallID(text) else { throw refused("call") }
        return id
    }

    private static func refused(_ command: String) -> SharedCoreError {
        SharedCoreError(.invalidArgument, "A player cannot do that.", at: command)
    }
}
