internal import CSharedCore
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
    private let deliveryExecutor: (any TaskExecutor)?
    private let requests = Mutex<UInt64>(0)
    /// The sequence of pushes that the Main's last request has begun; nil if there is none.
    private let pushes = Mutex<PushesObject?>(nil)
    /// Waits for the end of an Executor's group, until the participation ends.
    private let following = Mutex<Task<Void, Never>?>(nil)

    init(_ kind: Kind, _ events: ParticipantEvents, on deliveryExecutor: (any TaskExecutor)?) {
        self.kind = kind
        self.events = events
        self.deliveryExecutor = deliveryExecutor
    }

    var descriptor: Int32 { events.descriptor }

    func close() {
        following.withLock { $0 }?.cancel()
        let untaken = events.close()
        CallingThread.wait { [kind, pushes = takePushes()] in
            for handle in untaken { await Self.giveBack(handle) }
            await Self.end(kind, pushes)
        }
    }

    /// Starts to end the participation. The last event reports its end.
    func end() {
        following.withLock { $0 }?.cancel()
        Task.detached { [kind, events, pushes = takePushes()] in
            await Self.end(kind, pushes)
            events.add(.ended(nil))
        }
    }

    /// Gives back a message if the program never got the handle of it. Otherwise the message would stay taken, because
    /// the session continues.
    private static func giveBack(_ handle: UInt64) async {
        guard let object = Handles.remove(handle) as? TakenObject else { return }
        do throws(CoordinationError) {
            try await object.executor.giveBack(object.message)
        } catch {
            // The Executor was closed meanwhile, or the store cannot answer now. Try again in the background, because
            // the caller must not wait for the store.
            Task.detached { await object.executor.letGo(of: object.message) }
        }
    }

    private static func end(_ kind: Kind, _ pushes: PushesObject?) async {
        // Give back the pushes before the Main stops, because a stopped Main cannot.
        await pushes?.end()
        switch kind {
        case .main(let main): await main.stop()
        case .executor(let executor): await executor.close()
        case .holder(let holder): await holder.stop()
        }
    }

    private func takePushes() -> PushesObject? {
        pushes.withLock { pushes in
            defer { pushes = nil }
            return pushes
        }
    }

    /// Begins to take the pushes for a Main. Those of an earlier call end.
    func beginPushes(for main: MainParticipant) throws(Failure) -> PushesObject {
        if let former = takePushes() { former.close() }
        let sequence = try waitForParticipant { () async throws(CoordinationError) in try await main.pushes() }
        let begun = try PushesObject(sequence, of: main, on: deliveryExecutor)
        let other = pushes.withLock { pushes in
            defer { pushes = begun }
            return pushes
        }
        // Another thread may have called this too. Each call of `main.pushes()` ends the sequence of the call before.
        other?.close()
        return begun
    }

    /// Starts the work that a participant does without a request, and adds events for its results.
    func begin(in store: any SharedStore, takingOver: Bool, insisting: Bool) {
        switch kind {
        case .main(let main): start(main, takingOver: takingOver, insisting: insisting)
        case .executor(let executor): follow(executor, in: store)
        case .holder(let holder): follow(holder)
        }
    }

    /// Starts a Main, and adds an event for the result and one for its end.
    private func start(_ main: MainParticipant, takingOver: Bool, insisting: Bool) {
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
            // Add no event here: `end()` adds the last event when the core has stopped.
            case .stopped: break
            case .superseded: events.add(.ended(Failure(.superseded, "Another Main took over.", at: "participant")))
            case .coreFailed(let reason): events.add(.ended(Failure(.coreFailed, reason, at: "participant")))
            case .sessionEnded:
                events.add(.ended(Failure(.sessionEnded, "The session is over for the group.", at: "participant")))
            }
        }
    }

    /// Ends an Executor when its group has ended, and adds an event. An Executor has no task of its own while no call
    /// waits, so a watch of a key that no process writes reports the end.
    private func follow(_ executor: ExecutorParticipant, in store: any SharedStore) {
        let task = Task.detached(executorPreference: deliveryExecutor) { [events] in
            var failure: Failure?
            while failure == nil, !Task.isCancelled {
                do throws(SharedCoreError) {
                    let watch = try await store.watch([".sharedcore/end"], from: .now)
                    while try await watch.next() != nil {}
                    failure = Failure(.closed, "The group was closed.", at: "participant")
                } catch {
                    switch error.code {
                    // These errors may be temporary, so try again after a pause.
                    case .unavailable, .outcomeUnknown, .system: try? await Task.sleep(for: .seconds(1))
                    default: failure = Failure(error)
                    }
                }
            }
            guard let failure, !Task.isCancelled else { return }
            await executor.close()
            events.add(.ended(failure))
        }
        following.withLock { $0 = task }
    }

    /// Adds an event when a holder ends because its group has ended.
    private func follow(_ holder: HolderParticipant) {
        Task.detached { [events] in
            do throws(CoordinationError) {
                // Without an error add no event here: `end()` adds the last event when a Main that rests has resumed.
                try await holder.waitUntilEnded()
            } catch {
                events.add(.ended(Failure(error)))
            }
        }
    }

    /// Starts a call to a Main in a task, and adds an event when it has ended.
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

/// Makes a participant of a group, stores its handle for the caller, and starts it.
///
/// - Parameter open: Makes the participant, whose cores add to the events.
func openParticipant(
    of group: UInt64, _ options: UnsafePointer<sc_participant_options>?, in participant: UnsafeMutablePointer<UInt64>?,
    _ open: (any SharedStore, CoordinationOptions, ParticipantEvents) throws(Failure) -> ParticipantObject.Kind
) throws(Failure) -> Int32 {
    let result = try required(participant, "participant")
    result.pointee = 0
    let group = try Handles.find(group, as: GroupObject.self)
    // Nothing of the structure is read before its size was checked: it may be shorter than this version's.
    let given = try options == nil ? nil : sized(options, "options", "SC_PARTICIPANT_OPTIONS_INIT")
    let options = try coordination(given, of: group)
    try group.requireParticipant()
    let events = try ParticipantEvents()
    let object = ParticipantObject(
        try open(group.store, options, events), events, on: group.store.deliveryExecutor)
    result.pointee = try Handles.add(object)
    object.begin(in: group.store, takingOver: given?.takes_over ?? 0 != 0, insisting: given?.insists ?? 0 != 0)
    return Answer.ok
}

/// Returns the options of a participant. An option of 0 is the group's default.
///
/// - Throws: `invalidArgument` for a time below 0, and for the times that a configuration refuses: a lifetime of batons
///   outside of its bounds, and a timeout of a hand-over that is longer than its maximum.
private func coordination(
    _ options: sc_participant_options?, of group: GroupObject
) throws(Failure) -> CoordinationOptions {
    var result = group.coordination
    guard let options else { return result }
    func set(
        _ path: WritableKeyPath<CoordinationOptions, Duration>, _ milliseconds: Int64, _ name: String
    ) throws(Failure) {
        if let time = try optionalTime(milliseconds, name) { result[keyPath: path] = time }
    }
    try set(\.handoverTimeout, options.handover_timeout, "handover_timeout")
    try set(\.stopTimeout, options.stop_timeout, "stop_timeout")
    try set(\.executorBudget, options.executor_budget, "executor_budget")
    try set(\.coreLinger, options.core_linger, "core_linger")
    try set(\.handoverMaximumTimeout, options.handover_maximum_timeout, "handover_maximum_timeout")
    try set(\.wakeBound, options.wake_timeout, "wake_timeout")
    try set(\.batonLifetime, options.baton_lifetime, "baton_lifetime")
    guard Baton.lifetimes.contains(result.batonLifetime) else {
        throw Failure(
            .invalidArgument,
            "baton_lifetime is \(options.baton_lifetime) ms; it must be 1 second to 1 minute, or 0 for the default.",
            at: "baton_lifetime")
    }
    guard result.handoverTimeout <= result.handoverMaximumTimeout else {
        throw Failure(
            .invalidArgument,
            "handover_timeout is \(result.handoverTimeout.wholeMilliseconds) ms; it must not be longer than "
                + "handover_maximum_timeout, which is \(result.handoverMaximumTimeout.wholeMilliseconds) ms.",
            at: "handover_timeout")
    }
    if options.takes_baton_count != 0 {
        result.takesBatons = try batonKinds(options.takes_batons, options.takes_baton_count)
    }
    return result
}

/// Returns the Executor of a handle.
///
/// - Throws: `handle` for a closed handle and for another participant.
func executor(_ handle: UInt64) throws(Failure) -> (ParticipantObject, ExecutorParticipant) {
    let object = try Handles.find(handle, as: ParticipantObject.self)
    guard case .executor(let executor) = object.kind else {
        throw Failure(.handle, "The participant is no Executor.", at: "handle \(handle)")
    }
    return (object, executor)
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
