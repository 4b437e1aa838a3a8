internal import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

/// An event of a participant for its program.
enum ParticipantEvent: Sendable {
    case startCore(UInt64, epoch: Revision, ReceivedBaton?)
    case stopCore(UInt64, StopRequest)
    case batonEnded(UInt64, BatonEnd)
    case restCore(UInt64)
    case resumeCore(UInt64, Wake)
    /// A Main's first start has ended; nil for success.
    case started(Failure?)
    /// The answer to a request, with the request's number and the handle of the taken message; 0 if there is none.
    case result(UInt64, Result<(result: MessageResult, taken: UInt64), Failure>)
    case finished
    /// The answers to a Main's request for a rest, and for its end; nil for success.
    case rested(Failure?)
    case resumed(Failure?)
    case ended(Failure?)
}

/// The event queue of a participant, and the cores of its events.
final class ParticipantEvents: Sendable {
    private struct State {
        var events: [ParticipantEvent] = []
        var cores: [UInt64: CoreObject] = [:]
        /// True if the last event was added, or the handle of the participant was closed.
        var isOver = false
    }

    private let counter: EventCounter
    private let state = Mutex(State())

    init() throws(Failure) {
        do throws(SystemCallError) {
            counter = try EventCounter()
        } catch {
            throw Failure(SharedCoreError(error))
        }
    }

    var descriptor: Int32 { counter.descriptor }

    /// Appends an event. Returns false after the last event, because the program takes no event after that.
    @discardableResult
    func add(_ event: ParticipantEvent) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.events.append(event)
            if case .ended = event { state.isOver = true }
            counter.raise()
            return true
        }
    }

    /// Registers a core that begins to run, and appends the event that starts it. Returns false after the last event:
    /// the program takes no event any more, so the core counts as ended.
    func begin(_ core: CoreObject) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isOver else { return false }
            state.cores[core.handle] = core
            state.events.append(.startCore(core.handle, epoch: core.context.epoch, core.context.baton))
            counter.raise()
            return true
        }
        if !isTaken { end(core) }
        return isTaken
    }

    /// Removes a core that has stopped, and closes its handle.
    func end(_ core: CoreObject) {
        let handle = core.handle
        state.withLock { _ = $0.cores.removeValue(forKey: handle) }
        Handles.remove(handle)?.close()
    }

    /// Ends the queue: marks all cores as stopped, and wakes the threads that wait for events.
    ///
    /// - Returns: The handles of the messages in events that were not taken.
    func close() -> [UInt64] {
        let (cores, events) = state.withLock { state in
            state.isOver = true
            defer { state.events = [] }
            counter.raise()
            return (Array(state.cores.values), state.events)
        }
        for core in cores { end(core) }
        return events.compactMap { event in
            guard case .result(_, .success(let (_, taken))) = event else { return nil }
            return taken
        }
    }

    /// Waits for the next event until the timeout, then returns `nothing`.
    ///
    /// - Parameter timeout: Milliseconds; 0 never waits, below 0 waits without a limit.
    func take(within timeout: Int64) -> PollableEvents<ParticipantEvent>.Next {
        let deadline = Deadline(timeout)
        while true {
            let next = state.withLock { state -> PollableEvents<ParticipantEvent>.Next in
                guard !state.events.isEmpty else { return state.isOver ? .ended : .nothing }
                let event = state.events.removeFirst()
                if state.events.isEmpty && !state.isOver { counter.clear() }
                return .event(event)
            }
            guard case .nothing = next else { return next }
            guard timeout != 0, deadline.wait(for: descriptor) else { return .nothing }
        }
    }
}

extension ParticipantEvent {
    /// The event as the structure of the header, in a block of its own.
    var event: sc_participant_event {
        var event = sc_participant_event()
        switch self {
        case .startCore(let core, let epoch, let baton):
            event.kind = Int32(SC_CORE_START)
            event.core = core
            event.epoch = epoch.rawValue
            if let baton { Self.place(baton, in: &event) } else { Self.place("", in: &event) }
        case .stopCore(let core, let request):
            event.kind = Int32(SC_CORE_STOP)
            event.core = core
            event.timeout = Int64(clamping: request.timeout.wholeMilliseconds)
            event.reach = request.batonReach.number
            Self.place(request.reason.description, by: request.requester, taking: request.takes, in: &event)
        case .batonEnded(let core, let end):
            event.kind = Int32(SC_BATON_ENDED)
            event.core = core
            event.baton_end = end.number
            Self.place(end.description, in: &event)
        case .restCore(let core):
            event.kind = Int32(SC_CORE_REST)
            event.core = core
            Self.place("", in: &event)
        case .resumeCore(let core, let wake):
            event.kind = Int32(SC_CORE_RESUME)
            event.core = core
            Self.place(wake.description, in: &event)
        case .rested(let failure):
            event.kind = Int32(SC_RESTED)
            Self.place(failure, in: &event)
        case .resumed(let failure):
            event.kind = Int32(SC_RESUMED)
            Self.place(failure, in: &event)
        case .started(let failure):
            event.kind = Int32(SC_STARTED)
            Self.place(failure, in: &event)
        case .ended(let failure):
            event.kind = Int32(SC_PARTICIPANT_ENDED)
            Self.place(failure, in: &event)
        case .finished:
            event.kind = Int32(SC_FINISHED)
            Self.place("", in: &event)
        case .result(let request, .failure(let failure)):
            event.kind = Int32(SC_RESULT)
            event.request = request
            Self.place(failure, in: &event)
        case .result(let request, .success(let (result, taken))):
            event.kind = Int32(SC_RESULT)
            event.request = request
            event.taken = taken
            event.from_core = result.source == .core ? 1 : 0
            switch result.content {
            case .message(let message):
                event.result = Int32(SC_RESULT_MESSAGE)
                Self.place("", message: message.message, in: &event)
            case .call(let call):
                event.result = Int32(SC_RESULT_CALL)
                Self.place("", message: InboxMessage(callID: call.id, content: .nothingToShow), in: &event)
            case .nothingToShow:
                event.result = Int32(SC_RESULT_NOTHING)
                Self.place("", in: &event)
            }
        }
        return event
    }

    private static func place(_ failure: Failure?, in event: inout sc_participant_event) {
        event.code = failure?.code.rawValue ?? Answer.ok
        place(failure?.message ?? "", in: &event)
    }

    /// Places the message, or the kinds of batons, and the texts of an event. The first of them is at the address of
    /// the block.
    private static func place(
        _ reason: String, by requester: String? = nil, taking kinds: [String] = [], message: InboxMessage? = nil,
        in event: inout sc_participant_event
    ) {
        var size = ([reason, requester].compactMap(\.self) + kinds).reduce(0) { $0 + $1.utf8.count + 1 }
        size += kinds.count * MemoryLayout<UnsafePointer<CChar>?>.stride
        if let message { size += MessagePlace.byteCount(of: message) }
        var block = Block(size: size)
        if let message {
            let place = MessagePlace(in: &block, for: [message])
            place.messages[0] = block.message(message, fields: place.fields)
            event.message = UnsafePointer(place.messages)
        }
        if !kinds.isEmpty {
            event.takes = block.texts(kinds)
            event.take_count = kinds.count
        }
        event.reason = block.text(reason)
        event.requester = requester.map { block.text($0) }
    }

    /// Places a baton and an empty text. The address of the baton is that of the block.
    private static func place(_ baton: ReceivedBaton, in event: inout sc_participant_event) {
        let calls = baton.calls.map(\.text)
        let texts = calls + [baton.kind, ""]
        var block = Block(
            size: texts.reduce(MemoryLayout<sc_baton>.stride + baton.bytes.count) { $0 + $1.utf8.count + 1 }
                + calls.count * MemoryLayout<UnsafePointer<CChar>?>.stride)
        let place = block.array(of: sc_baton.self, count: 1)
        var result = sc_baton()
        result.size = MemoryLayout<sc_baton>.size
        result.calls = block.texts(calls)
        result.call_count = calls.count
        result.kind = block.text(baton.kind)
        result.bytes = block.bytes(baton.bytes)
        result.byte_count = baton.bytes.count
        result.from = baton.from.rawValue
        place.pointee = result
        event.baton = UnsafePointer(place)
        event.reason = block.text("")
    }
}

extension sc_participant_event {
    /// The first address of what the event points to: the block of ``ParticipantEvent/event``.
    var block: UnsafeRawPointer? {
        if let message { return UnsafeRawPointer(message) }
        if let baton { return UnsafeRawPointer(baton) }
        if let takes { return UnsafeRawPointer(takes) }
        return UnsafeRawPointer(reason)
    }
}
