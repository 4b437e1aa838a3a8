// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

/// A call of a core.
final class OpenCallObject: PollableObject {
    let call: OpenCall
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var commands: Resuming<ReceivedCallCommand>?
    }

    init(_ call: OpenCall, on executor: (any TaskExecutor)?) {
        self.call = call
        self.executor = executor
    }

    var descriptor: Int32 { get throws(Failure) { try commands().descriptor } }

    func close() {
        let commands = state.withLock { state in
            state.isClosed = true
            return state.commands
        }
        commands?.cancel()
    }

    /// Returns the commands for the call. The first use begins to take them. If a core never calls this, the senders of
    /// commands get a timeout.
    func commands() throws(Failure) -> Resuming<ReceivedCallCommand> {
        if let commands = state.withLock({ $0.commands }) { return commands }
        let sequence = try wait { [call] () async throws(SharedCoreError) in try await call.commands() }
        let taking = Taking<CallCommands.AsyncIterator>(sequence)
        let made = try Resuming(on: executor, next: next, cancel: { sequence.cancel() })
        @Sendable func next() async throws(Interruption) -> ReceivedCallCommand? {
            do throws(SharedCoreError) {
                return try await taking.next()
            } catch {
                throw Interruption(failure: Failure(error), isLast: Self.endsCommands(error.code))
            }
        }
        let kept = state.withLock { state -> Resuming<ReceivedCallCommand>? in
            if state.isClosed { return nil }
            if state.commands == nil { state.commands = made }
            return state.commands
        }
        if kept !== made { made.cancel() }
        guard let kept else { throw Failure(.handle, "The handle was closed.", at: "call") }
        return kept
    }

    /// Returns true for an error after which no command comes. The only guard that ``CallCommands`` reports is that of the
    /// owner: its core was superseded. After every other error the next call tries again.
    private static func endsCommands(_ code: SharedCoreError.Code) -> Bool {
        switch code {
        case .closed, .sessionEnded, .guardFailed, .cancelled: true
        default: false
        }
    }
}

/// A command that a core has taken.
final class CommandObject: HandleObject {
    let command: ReceivedCallCommand

    init(_ command: ReceivedCallCommand) { self.command = command }

    /// Does nothing: the sender gets `outcomeUnknown` at its deadline.
    func close() {}
}

// MARK: - Values

/// The reasons for which a call ends, by their numbers. A failure is not among them, because it has a text.
private let endReasons: [(number: Int, reason: Call.EndReason)] = [
    (Int(SC_END_HUNG_UP), .hungUp), (Int(SC_END_REMOTE_HUNG_UP), .remoteHungUp), (Int(SC_END_DECLINED), .declined),
    (Int(SC_END_MISSED), .missed), (Int(SC_END_ANSWERED_ELSEWHERE), .answeredElsewhere), (Int(SC_END_BUSY), .busy),
    (Int(SC_END_LOST), .lost),
]

extension sc_call_list {
    fileprivate init(_ calls: [Call]) {
        self.init()
        func texts(_ call: Call) -> [String] { [call.id.text, call.from, call.to, call.account] + [call.endText] }
        var block = Block(
            size: calls.reduce(0) { size, call in
                texts(call).reduce(size + MemoryLayout<sc_call_info>.stride) { $0 + $1.utf8.count + 1 }
            })
        let places = block.array(of: sc_call_info.self, count: calls.count)
        for (index, call) in calls.enumerated() {
            var info = sc_call_info()
            info.id = block.text(call.id.text)
            info.from = block.text(call.from)
            info.to = block.text(call.to)
            info.account = block.text(call.account)
            info.end_text = block.text(call.endText)
            info.holder = call.holder?.session.rawValue ?? 0
            info.began = call.began.milliseconds
            info.answered = call.answered?.milliseconds ?? -1
            info.ended = call.ended?.milliseconds ?? -1
            info.direction = Int32(call.direction.rawValue)
            info.media = Int32(call.media.rawValue)
            switch call.state {
            case .incoming: info.state = Int32(SC_CALL_INCOMING)
            case .ringing: info.state = Int32(SC_CALL_RINGING)
            case .answered: info.state = Int32(SC_CALL_ANSWERED)
            case .held: info.state = Int32(SC_CALL_HELD)
            case .remotelyHeld: info.state = Int32(SC_CALL_REMOTELY_HELD)
            case .ended(let reason):
                info.state = Int32(SC_CALL_ENDED)
                info.end_reason = Int32(endReasons.first { $0.reason == reason }?.number ?? Int(SC_END_FAILED))
            }
            places[index] = info
        }
        self.calls = UnsafePointer(places)
        count = calls.count
    }
}

extension Call {
    fileprivate var endText: String { if case .ended(let reason) = state { reason.text } else { "" } }
}

extension BootInstant {
    /// The whole milliseconds since the machine's start.
    var milliseconds: Int64 { Int64(clamping: nanoseconds / 1_000_000) }
}

/// Returns the state of an open call.
private func callState(_ number: Int32) throws(Failure) -> Call.State {
    switch Int(number) {
    case Int(SC_CALL_INCOMING): return .incoming
    case Int(SC_CALL_RINGING): return .ringing
    case Int(SC_CALL_ANSWERED): return .answered
    case Int(SC_CALL_HELD): return .held
    case Int(SC_CALL_REMOTELY_HELD): return .remotelyHeld
    default: throw Failure(.invalidArgument, "There is no state \(number) of an open call.", at: "state")
    }
}

private func calls(_ group: UInt64) throws(Failure) -> Calls {
    Calls(try Handles.find(group, as: GroupObject.self).store)
}

// MARK: - For every process

@c @implementation public func sc_calls(
    _ group: UInt64, _ list: UnsafeMutablePointer<sc_call_list>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(list, "list")
        result.pointee = sc_call_list()
        let calls = try CLibrary.calls(group)
        result.pointee = sc_call_list(try wait { () async throws(SharedCoreError) in try await calls.list() })
        return Answer.ok
    }
}

@c @implementation public func sc_call_list_free(_ list: UnsafeMutablePointer<sc_call_list>?) {
    guard let list, !ForkedChild.isCurrent else { return }
    Block.free(list.pointee.calls)
    list.pointee = sc_call_list()
}

@c @implementation public func sc_calls_watch(
    _ group: UInt64, _ changes: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(changes, "changes")
        result.pointee = 0
        let calls = try CLibrary.calls(group)
        let executor = try Handles.find(group, as: GroupObject.self).store.deliveryExecutor
        let changes = try wait { () async throws(SharedCoreError) in try await calls.changes() }
        let events = try PollableEvents(taking: changes, on: executor) { changes.cancel() }
        result.pointee = try Handles.add(EventsObject(events))
        return Answer.ok
    }
}

@c @implementation public func sc_calls_next(
    _ changes: UInt64, _ timeout: Int64, _ list: UnsafeMutablePointer<sc_call_list>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(list, "list")
        result.pointee = sc_call_list()
        switch try Handles.find(changes, as: EventsObject<[Call]>.self).events.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let calls):
            result.pointee = sc_call_list(calls)
            return Answer.ok
        }
    }
}

@c @implementation public func sc_call_command(
    _ group: UInt64, _ id: UnsafePointer<CChar>?, _ command: Int32, _ timeout: Int64,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let calls = try CLibrary.calls(group)
        let id = try callID(id)
        guard let command = UInt8(exactly: command).flatMap(CallCommand.init(rawValue:)) else {
            throw Failure(.invalidArgument, "There is no command \(command) of a call.", at: "command")
        }
        try waitForParticipant { () async throws(CoordinationError) in
            try await calls.send(command, to: id, within: Deadline.duration(timeout))
        }
        return Answer.ok
    }
}

@c @implementation public func sc_call_acknowledge(
    _ group: UInt64, _ id: UnsafePointer<CChar>?, _ acknowledged: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let calls = try CLibrary.calls(group)
        let id = try callID(id)
        let wasThere = try wait { () async throws(SharedCoreError) in try await calls.acknowledge(id) }
        acknowledged?.pointee = wasThere ? 1 : 0
        return Answer.ok
    }
}

// MARK: - For the core

@c @implementation public func sc_call_begin(
    _ core: UInt64, _ description: UnsafePointer<sc_call_info>?, _ call: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(call, "call")
        result.pointee = 0
        let context = try Handles.find(core, as: CoreObject.self).context
        guard let info = description?.pointee else {
            throw Failure(.invalidArgument, "The description of the call is NULL.", at: "description")
        }
        guard let direction = UInt8(exactly: info.direction).flatMap(Call.Direction.init(rawValue:)) else {
            throw Failure(.invalidArgument, "There is no direction \(info.direction) of a call.", at: "direction")
        }
        let description = CallDescription(
            try callID(info.id), direction, from: try optionalText(info.from, "from") ?? "",
            to: try optionalText(info.to, "to") ?? "", account: try optionalText(info.account, "account") ?? "",
            media: try callMedia(info.media))
        let state = try callState(info.state)
        let open = try wait { () async throws(SharedCoreError) in
            try await context.begin(call: description, in: state)
        }
        result.pointee = try Handles.add(OpenCallObject(open, on: context.store.deliveryExecutor))
        return Answer.ok
    }
}

@c @implementation public func sc_call_change(
    _ call: UInt64, _ state: Int32, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let open = try Handles.find(call, as: OpenCallObject.self).call
        let state = try callState(state)
        try wait { () async throws(SharedCoreError) in try await open.change(to: state) }
        return Answer.ok
    }
}

@c @implementation public func sc_call_change_media(
    _ call: UInt64, _ media: Int32, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let open = try Handles.find(call, as: OpenCallObject.self).call
        let media = try callMedia(media)
        try wait { () async throws(SharedCoreError) in try await open.change(media: media) }
        return Answer.ok
    }
}

private func callMedia(_ number: Int32) throws(Failure) -> Call.Media {
    guard let media = UInt8(exactly: number).map(Call.Media.init(rawValue:)), media.isSubset(of: [.audio, .video])
    else { throw Failure(.invalidArgument, "There are no media \(number).", at: "media") }
    return media
}

@c @implementation public func sc_call_end(
    _ call: UInt64, _ reason: Int32, _ text: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let open = try Handles.find(call, as: OpenCallObject.self).call
        let reason = try endReason(reason, text)
        try wait { () async throws(SharedCoreError) in try await open.end(reason) }
        Handles.remove(call)?.close()
        return Answer.ok
    }
}

private func endReason(_ number: Int32, _ text: UnsafePointer<CChar>?) throws(Failure) -> Call.EndReason {
    if Int(number) == Int(SC_END_FAILED) { return .failed(try optionalText(text, "text") ?? "") }
    // A core cannot end a call as lost: only the group finds that a call was lost.
    guard let found = endReasons.first(where: { $0.number == Int(number) }), found.reason != .lost else {
        throw Failure(.invalidArgument, "There is no reason \(number) with which a core ends a call.", at: "reason")
    }
    return found.reason
}

@c @implementation public func sc_call_next_command(
    _ call: UInt64, _ timeout: Int64, _ command: UnsafeMutablePointer<UInt64>?, _ kind: UnsafeMutablePointer<Int32>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let handle = try required(command, "command")
        let number = try required(kind, "kind")
        handle.pointee = 0
        number.pointee = 0
        switch try Handles.find(call, as: OpenCallObject.self).commands().take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let received):
            handle.pointee = try Handles.add(CommandObject(received))
            number.pointee = Int32(received.command.rawValue)
            return Answer.ok
        }
    }
}

@c @implementation public func sc_command_accept(
    _ command: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let received = try Handles.find(command, as: CommandObject.self).command
        try wait { () async throws(SharedCoreError) in try await received.accept() }
        _ = Handles.remove(command)
        return Answer.ok
    }
}

@c @implementation public func sc_command_refuse(
    _ command: UInt64, _ reason: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let received = try Handles.find(command, as: CommandObject.self).command
        let reason = try optionalText(reason, "reason") ?? ""
        try wait { () async throws(SharedCoreError) in try await received.refuse(because: reason) }
        _ = Handles.remove(command)
        return Answer.ok
    }
}
