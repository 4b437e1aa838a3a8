// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import CoreAPI
internal import Platform
internal import Synchronization

/// An object with a descriptor that a program polls.
protocol PollableObject: HandleObject {
    /// The descriptor that is readable while there is an event.
    var descriptor: Int32 { get throws(Failure) }
}

/// An actor that holds the iterator of a sequence, so that a `@Sendable` closure can advance it. Call ``next()`` only
/// once at a time.
actor Taking<Iterator: AsyncIteratorProtocol> where Iterator.Element: Sendable {
    private var iterator: Iterator

    init<Base: AsyncSequence & Sendable>(_ sequence: Base) where Base.AsyncIterator == Iterator {
        iterator = sequence.makeAsyncIterator()
    }

    func next() async throws(Iterator.Failure) -> Iterator.Element? {
        var own = iterator
        defer { iterator = own }
        return try await own.next(isolation: self)
    }
}

extension PollableEvents {
    /// Takes the elements of a sequence, which any error ends.
    ///
    /// - Parameter cancel: Ends the sequence.
    convenience init<Base: AsyncSequence & Sendable>(
        taking sequence: Base, on executor: (any TaskExecutor)?, cancel: @escaping @Sendable () -> Void
    ) throws(Failure) where Base.Element == Element, Base.Failure == SharedCoreError {
        let taking = Taking<Base.AsyncIterator>(sequence)
        do throws(SharedCoreError) {
            try self.init(
                on: executor, next: { () async throws(SharedCoreError) in try await taking.next() }, cancel: cancel)
        } catch {
            throw Failure(error)
        }
    }
}

/// The elements of a sequence that continues after an error of the store: such an error is an element. An error that
/// ends the sequence is the last element.
final class Resuming<Value: Sendable>: Sendable {
    private let events: PollableEvents<Result<Value, Failure>>

    /// What the last call of the sequence has returned.
    private enum Last { case element, failure, end }

    /// Makes a descriptor, and starts the task that takes one element ahead of the program.
    ///
    /// - Parameters:
    ///   - sleep: Waits for a time, or until the task is cancelled. Only tests change it.
    ///   - next: Waits for the next element; nil after the end. The failure says whether it ends the sequence.
    ///   - cancel: Ends the sequence.
    init(
        on executor: (any TaskExecutor)?,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        next: @escaping @Sendable () async throws(Interruption) -> Value?, cancel: @escaping @Sendable () -> Void
    ) throws(Failure) {
        let last = Mutex(Last.element)
        events = try store { () throws(SharedCoreError) in
            try PollableEvents(on: executor, next: element, cancel: cancel)
        }
        @Sendable func element() async throws(SharedCoreError) -> Result<Value, Failure>? {
            switch last.withLock({ $0 }) {
            case .element: break
            case .failure: await sleep(resumingPause)  // many errors of a store stay
            case .end: return nil
            }
            do throws(Interruption) {
                let element = try await next()
                last.withLock { $0 = .element }
                return element.map { .success($0) }
            } catch {
                last.withLock { $0 = error.isLast ? .end : .failure }
                return .failure(error.failure)
            }
        }
    }

    var descriptor: Int32 { events.descriptor }

    /// Waits for the next element until the timeout, then returns `nothing`.
    ///
    /// - Parameter timeout: As for ``PollableEvents/take(within:)``.
    /// - Throws: The error of the store in place of an element.
    func take(within timeout: Int64) throws(Failure) -> PollableEvents<Value>.Next {
        switch try events.take(within: timeout) {
        case .nothing: return .nothing
        case .ended: return .ended
        case .event(.failure(let failure)): throw failure
        case .event(.success(let value)): return .event(value)
        }
    }

    func cancel() { events.cancel() }
}

/// The time from an error of a sequence, or of the watch of a mailbox, until it continues.
let resumingPause = Duration.seconds(1)

/// An error of a sequence.
struct Interruption: Error {
    let failure: Failure
    /// True if the sequence ends with it.
    let isLast: Bool
}

/// An open sequence of events: a watch, an observation or the lists of a group's calls.
final class EventsObject<Event: Sendable>: PollableObject {
    let events: PollableEvents<Event>

    init(_ events: PollableEvents<Event>) { self.events = events }

    var descriptor: Int32 { events.descriptor }

    func close() { events.cancel() }
}

@c @implementation public func sc_descriptor(
    _ handle: UInt64, _ descriptor: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(descriptor, "descriptor")
        result.pointee = -1
        result.pointee = try Handles.findPollable(handle).descriptor
        return Answer.ok
    }
}

extension Handles {
    fileprivate static func findPollable(_ handle: UInt64) throws(Failure) -> any PollableObject {
        guard let object = find(handle) as? any PollableObject else {
            throw Failure(
                .handle,
                "The handle is not of an open watch, observation, mailbox, responder, participant, call or list of calls.",
                at: "handle \(handle)")
        }
        return object
    }
}

extension PollableEvents {
    /// Waits for the next event until the timeout, then returns `nothing`.
    ///
    /// - Parameter timeout: Milliseconds; 0 never waits, below 0 waits without a limit.
    ///
    /// - Throws: The failure that ended the sequence.
    func take(within timeout: Int64) throws(Failure) -> Next {
        let deadline = Deadline(timeout)
        while true {
            let next = try store { () throws(SharedCoreError) in try self.next() }
            guard case .nothing = next else { return next }
            guard timeout != 0, deadline.wait(for: descriptor) else { return .nothing }
        }
    }
}

@c @implementation public func sc_watch_open(
    _ group: UInt64, _ prefix: UnsafePointer<CChar>?, _ prefixCount: Int, _ start: Int32, _ after: UInt64,
    _ watch: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(watch, "watch")
        result.pointee = 0
        let group = try Handles.find(group, as: GroupObject.self).store
        let prefix = try CLibrary.prefix(prefix, prefixCount)
        let from: WatchStart
        switch Int(start) {
        case Int(SC_FROM_SNAPSHOT): from = .snapshot
        case Int(SC_FROM_NOW): from = .now
        case Int(SC_FROM_REVISION): from = .after(Revision(rawValue: after))
        default: throw Failure(.invalidArgument, "There is no start \(start) of a watch.", at: "start")
        }
        let watch = try wait { () async throws(SharedCoreError) in try await group.watch([prefix], from: from) }
        let events = try store { () throws(SharedCoreError) in try watch.pollable(on: group.deliveryExecutor) }
        result.pointee = try Handles.add(EventsObject(events))
        return Answer.ok
    }
}

@c @implementation public func sc_watch_next(
    _ watch: UInt64, _ timeout: Int64, _ event: UnsafeMutablePointer<sc_event>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(event, "event")
        result.pointee = sc_event()
        switch try Handles.find(watch, as: EventsObject<WatchEvent>.self).events.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let event):
            result.pointee = event.event
            return Answer.ok
        }
    }
}

@c @implementation public func sc_event_free(_ event: UnsafeMutablePointer<sc_event>?) {
    guard let event, !ForkedChild.isCurrent else { return }
    Block.free(event.pointee.changes)
    event.pointee = sc_event()
}

@c @implementation public func sc_observe(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ nameCount: Int, _ observation: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(observation, "observation")
        result.pointee = 0
        let notifier = try notifier(group)
        let name = try CLibrary.name(name, nameCount)
        let executor = try Handles.find(group, as: GroupObject.self).store.deliveryExecutor
        let observation = try wait { () async throws(SharedCoreError) in try await notifier.observe(name) }
        let events = try store { () throws(SharedCoreError) in try observation.pollable(on: executor) }
        result.pointee = try Handles.add(EventsObject(events))
        return Answer.ok
    }
}

@c @implementation public func sc_observation_next(
    _ observation: UInt64, _ timeout: Int64, _ notification: UnsafeMutablePointer<sc_notification>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(notification, "notification")
        result.pointee = sc_notification()
        let object = try Handles.find(observation, as: EventsObject<NotificationDelivery>.self)
        switch try object.events.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let delivery):
            result.pointee.state = delivery.state
            result.pointee.count = delivery.count
            result.pointee.revision = delivery.revision.rawValue
            result.pointee.origin = delivery.origin.rawValue
            return Answer.ok
        }
    }
}
