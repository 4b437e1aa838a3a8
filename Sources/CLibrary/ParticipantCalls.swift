// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

/// A Main, an Executor or a holder.
final class ParticipantObject: PollableObject {
    enum Kind: Sendable {
        case main(MainParticipant)
        case executor(ExecutorParticipant)
        case holder(HolderParticipant)
    }

    let kind: Kind
    let events: ParticipantEvents
    private let requests = Mutex<UInt64>(0)

    init(_ kind: Kind, _ events: ParticipantEvents) {
        self.kind = kind
        self.events = events
    }

    var descriptor: Int32 { events.descriptor }

    func close() {
        let untaken = events.close()
        CallingThread.wait { [kind] in
            for handle in untaken { await Self.giveBack(handle) }
            await Self.end(kind)
        }
    }

    /// Begins to end the participation; the last event tells when it has ended.
    func end() {
        Task.detached { [kind, events] in
            await Self.end(kind)
            events.add(.ended(nil))
        }
    }

    /// Gives back the message of a handle that the program never got. The session goes on, so its take would stand.
    private static func giveBack(_ handle: UInt64) async {
        guard let object = Handles.remove(handle) as? TakenObject else { return }
        // A failure leaves nothing to do: the take ends with the session, as of a closed group.
        try? await object.executor.giveBack(object.message)
    }

    private static func end(_ kind: Kind) async {
        switch kind {
        case .main(let main): await main.stop()
        case .executor(let executor): await executor.close()
        case .holder(let holder): await holder.stop()
        }
    }

    /// Starts a Main, and adds an event for the result and one for its end.
    func start(_ main: MainParticipant, takingOver: Bool, insisting: Bool) {
        Task.detached { [events] in
            do throws(CoordinationError) {
                try await main.start(takingOver: takingOver, insisting: insisting)
                events.add(.started(nil))
            } catch {
                events.add(.started(Failure(error)))
                events.add(.ended(Failure(error)))
                return
            }
            switch await main.waitUntilEnded() {
            // `end()` adds the last event, when the core has stopped.
            case .stopped: break
            case .superseded: events.add(.ended(Failure(.superseded, "Another Main took over.", at: "participant")))
            case .coreFailed(let reason): events.add(.ended(Failure(.coreFailed, reason, at: "participant")))
            case .sessionEnded:
                events.add(.ended(Failure(.sessionEnded, "The session is over for the group.", at: "participant")))
            }
        }
    }

    /// Begins what a Main is told, and adds an event for its end.
    func tell(
        _ body: @escaping @Sendable () async throws(CoordinationError) -> Void,
        then event: @escaping @Sendable (Failure?) -> ParticipantEvent
    ) {
        Task.detached { [events] in
            do throws(CoordinationError) {
                try await body()
                events.add(event(nil))
            } catch {
                events.add(event(Failure(error)))
            }
        }
    }

    /// Adds an event for the end of a holder that its group has ended.
    func follow(_ holder: HolderParticipant) {
        Task.detached { [events] in
            do throws(CoordinationError) {
                // `end()` adds the last event, when a Main that rests has resumed.
                try await holder.waitUntilEnded()
            } catch {
                events.add(.ended(Failure(error)))
            }
        }
    }

    /// Asks for a message. The answer is an event with the number that this returns.
    func ask(
        _ executor: ExecutorParticipant, for id: MessageID, within timeout: Int64, insisting: Bool
    ) -> UInt64 {
        let request = requests.withLock { requests in
            requests += 1
            return requests
        }
        let limit = Deadline.duration(timeout)
        Task.detached { [events] in
            do throws(CoordinationError) {
                let result = try await executor.message(for: id, timeout: limit, insisting: insisting)
                var taken: UInt64 = 0
                if case .message(let message) = result.content {
                    taken = (try? Handles.add(TakenObject(message, of: executor))) ?? 0
                }
                if !events.add(.result(request, .success((result, taken)))) { await Self.giveBack(taken) }
            } catch {
                events.add(.result(request, .failure(Failure(error))))
            }
        }
        return request
    }
}

/// A message that an Executor has taken.
final class TakenObject: HandleObject {
    let message: TakenMessage
    let executor: ExecutorParticipant

    init(_ message: TakenMessage, of executor: ExecutorParticipant) {
        self.message = message
        self.executor = executor
    }

    /// Does nothing: the message stays taken until the session ends.
    func close() {}
}

/// Runs an asynchronous call of a participant and blocks the calling thread until it returns.
func waitForParticipant<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(CoordinationError) -> Value
) throws(Failure) -> Value {
    let result: Result<Value, CoordinationError> = CallingThread.wait {
        do throws(CoordinationError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw Failure(error)
    }
}

/// Reads the options of a participant. An option of 0 is the group's default.
func read(
    _ options: UnsafePointer<sc_participant_options>?, of group: GroupObject
) throws(Failure) -> CoordinationOptions {
    var result = group.coordination
    guard let options else { return result }
    guard options.pointee.size == MemoryLayout<sc_participant_options>.size else {
        throw Failure(
            .invalidArgument,
            "The options have the size \(options.pointee.size), not \(MemoryLayout<sc_participant_options>.size): "
                + "set it with SC_PARTICIPANT_OPTIONS_INIT.", at: "options")
    }
    func set(_ path: WritableKeyPath<CoordinationOptions, Duration>, _ milliseconds: Int64) {
        if milliseconds > 0 { result[keyPath: path] = .milliseconds(min(milliseconds, Deadline.maximum)) }
    }
    set(\.handoverTimeout, options.pointee.handover_timeout)
    set(\.stopTimeout, options.pointee.stop_timeout)
    set(\.executorBudget, options.pointee.executor_budget)
    set(\.coreLinger, options.pointee.core_linger)
    set(\.handoverMaximumTimeout, options.pointee.handover_maximum_timeout)
    set(\.wakeBound, options.pointee.wake_timeout)
    return result
}

func callID(_ text: UnsafePointer<CChar>?) throws(Failure) -> CallID {
    guard let id = CallID(try CLibrary.text(text, "call_id")) else {
        throw Failure(.invalidArgument, "A call-id is not empty.", at: "call_id")
    }
    return id
}

@c @implementation public func sc_main_start(
    _ group: UInt64, _ options: UnsafePointer<sc_participant_options>?, _ participant: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(participant, "participant")
        result.pointee = 0
        let group = try Handles.find(group, as: GroupObject.self)
        let (takesOver, insists) =
            options.map { ($0.pointee.takes_over != 0, $0.pointee.insists != 0) } ?? (false, false)
        let options = try read(options, of: group)
        try group.requireParticipant()
        let events = try ParticipantEvents()
        let main = try store { () throws(SharedCoreError) in
            try MainParticipant(of: group.store, options: options) { BridgedCore(events) }
        }
        let object = ParticipantObject(.main(main), events)
        result.pointee = try Handles.add(object)
        object.start(main, takingOver: takesOver, insisting: insists)
        return Answer.ok
    }
}

@c @implementation public func sc_executor_open(
    _ group: UInt64, _ options: UnsafePointer<sc_participant_options>?, _ participant: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(participant, "participant")
        result.pointee = 0
        let group = try Handles.find(group, as: GroupObject.self)
        let options = try read(options, of: group)
        try group.requireParticipant()
        let events = try ParticipantEvents()
        let executor = try store { () throws(SharedCoreError) in
            try ExecutorParticipant(of: group.store, options: options) { BridgedCore(events) }
        }
        result.pointee = try Handles.add(ParticipantObject(.executor(executor), events))
        return Answer.ok
    }
}

@c @implementation public func sc_participant_next(
    _ participant: UInt64, _ timeout: Int64, _ event: UnsafeMutablePointer<sc_participant_event>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(event, "event")
        result.pointee = sc_participant_event()
        switch try Handles.find(participant, as: ParticipantObject.self).events.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let event):
            result.pointee = event.event
            return Answer.ok
        }
    }
}

@c @implementation public func sc_participant_event_free(
    _ event: UnsafeMutablePointer<sc_participant_event>?
) {
    guard let event else { return }
    // The message is the first value of the block where there is one.
    if let message = event.pointee.message { Block.free(message) } else { Block.free(event.pointee.reason) }
    event.pointee = sc_participant_event()
}

@c @implementation public func sc_participant_end(
    _ participant: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try Handles.find(participant, as: ParticipantObject.self).end()
        return Answer.ok
    }
}

/// Returns the Executor of a handle.
///
/// - Throws: `handle` for a closed handle and for a Main.
private func executor(_ handle: UInt64) throws(Failure) -> (ParticipantObject, ExecutorParticipant) {
    let object = try Handles.find(handle, as: ParticipantObject.self)
    guard case .executor(let executor) = object.kind else {
        throw Failure(.handle, "The participant is no Executor.", at: "handle \(handle)")
    }
    return (object, executor)
}

@c @implementation public func sc_executor_ask(
    _ executor: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?, _ timeout: Int64,
    _ request: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        let number = object.ask(executor, for: try messageID(id, sequence), within: timeout, insisting: false)
        request?.pointee = number
        return Answer.ok
    }
}

@c @implementation public func sc_executor_insist(
    _ executor: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?, _ timeout: Int64,
    _ request: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        let number = object.ask(executor, for: try messageID(id, sequence), within: timeout, insisting: true)
        request?.pointee = number
        return Answer.ok
    }
}

@c @implementation public func sc_executor_finish(
    _ executor: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        Task.detached { [events = object.events] in
            await executor.finish()
            events.add(.finished)
        }
        return Answer.ok
    }
}

@c @implementation public func sc_taken_acknowledge(
    _ taken: UInt64, _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenObject.self)
        let wasOwn = try waitForParticipant { () async throws(CoordinationError) in
            try await object.executor.acknowledge(object.message)
        }
        _ = Handles.remove(taken)
        acknowledged?.pointee = wasOwn ? 1 : 0
        return Answer.ok
    }
}

@c @implementation public func sc_taken_give_back(
    _ taken: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenObject.self)
        try waitForParticipant { () async throws(CoordinationError) in
            try await object.executor.giveBack(object.message)
        }
        _ = Handles.remove(taken)
        return Answer.ok
    }
}

@c @implementation public func sc_main_acknowledge(
    _ main: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?,
    _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (_, participant) = try CLibrary.main(main)
        let message = try messageID(id, sequence)
        let wasThere = try waitForParticipant { () async throws(CoordinationError) in
            try await participant.acknowledge(message)
        }
        acknowledged?.pointee = wasThere ? 1 : 0
        return Answer.ok
    }
}

/// Returns the Main of a handle.
///
/// - Throws: `handle` for a closed handle and for another participant.
func main(_ handle: UInt64) throws(Failure) -> (ParticipantObject, MainParticipant) {
    let object = try Handles.find(handle, as: ParticipantObject.self)
    guard case .main(let main) = object.kind else {
        throw Failure(.handle, "The participant is no Main.", at: "handle \(handle)")
    }
    return (object, main)
}

// MARK: - The core

@c @implementation public func sc_core_started(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?)
    -> Int32
{
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).start()
        return Answer.ok
    }
}

@c @implementation public func sc_core_failed(
    _ core: UInt64, _ reason: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let reason = try optionalText(reason, "reason") ?? "The core has failed."
        try Handles.find(core, as: CoreObject.self).fail(reason)
        return Answer.ok
    }
}

@c @implementation public func sc_core_stopped(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?)
    -> Int32
{
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).close()
        _ = Handles.remove(core)
        return Answer.ok
    }
}

@c @implementation public func sc_core_report(
    _ core: UInt64, _ problem: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let problem = try text(problem, "problem")
        try wait { () async throws(SharedCoreError) in await context.report(problem) }
        return Answer.ok
    }
}

@c @implementation public func sc_core_group(
    _ core: UInt64, _ group: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(group, "group")
        result.pointee = 0
        let core = try Handles.find(core, as: CoreObject.self)
        result.pointee = try Handles.add(GroupObject(core.context.store, isBorrowed: true))
        return Answer.ok
    }
}
