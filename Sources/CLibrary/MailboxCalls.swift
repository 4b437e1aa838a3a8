// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import Synchronization

/// A mailbox of a group.
final class MailboxObject: PollableObject {
    let mailbox: QueueMailbox
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        /// The watches of the threads that wait in ``MailboxObject/take(until:waits:)``, each with its own.
        var waits: [ObjectIdentifier: PollableEvents<WatchEvent>] = [:]
        /// Nil until the program asks for the descriptor: a program that does not poll needs no watch.
        var arrivals: Arrivals?
    }

    init(_ mailbox: QueueMailbox) { self.mailbox = mailbox }

    func close() {
        let (waits, arrivals) = state.withLock { state in
            state.isClosed = true
            defer { (state.waits, state.arrivals) = ([:], nil) }
            return (state.waits.values, state.arrivals)
        }
        for wait in waits { wait.cancel() }
        arrivals?.cancel()
    }

    var descriptor: Int32 { get throws(Failure) { try arrivals().descriptor } }

    /// Returns the descriptor and its watch, which the first use opens.
    private func arrivals() throws(Failure) -> Arrivals {
        if let arrivals = state.withLock({ $0.arrivals }) { return arrivals }
        let made = try Arrivals(at: mailbox)
        let kept = state.withLock { state -> Arrivals? in
            if state.isClosed { return nil }
            if state.arrivals == nil { state.arrivals = made }
            return state.arrivals
        }
        if kept !== made { made.cancel() }
        guard let kept else { throw closed }
        return kept
    }

    /// Takes a message that is in the mailbox now; nil if there is none. In that case the descriptor becomes readable
    /// with the next message.
    private func takeNow() throws(Failure) -> QueueDelivery? {
        let mailbox = mailbox
        if let delivery = try wait(for: { () async throws(SharedCoreError) in try await mailbox.take() }) {
            return delivery
        }
        guard let arrivals = state.withLock({ $0.arrivals }) else { return nil }
        // A message may have come since the last attempt. Clear the descriptor before the next attempt, so that no
        // signal of a later message is lost.
        arrivals.clear()
        guard let delivery = try wait(for: { () async throws(SharedCoreError) in try await mailbox.take() }) else {
            return nil
        }
        // Keep the descriptor readable, because more messages may be in the mailbox.
        arrivals.raise()
        return delivery
    }

    /// Takes a message. Waits for one until the deadline if `waits`, then returns nil.
    func take(until deadline: Deadline, waits: Bool) throws(Failure) -> QueueDelivery? {
        if let delivery = try takeNow() { return delivery }
        guard waits else { return nil }
        let mailbox = mailbox
        // The watch begins before the next attempt, so no message is missed. Each waiting thread has its own: with one watch
        // for all, the thread that takes a message would use up the wake-up of the others.
        let watch = try wait { () async throws(SharedCoreError) in try await mailbox.watch(from: .now) }
        let changes = try store { () throws(SharedCoreError) in
            try watch.pollable(on: mailbox.store.deliveryExecutor)
        }
        defer { changes.cancel() }
        guard begin(changes) else { throw closed }
        defer { end(changes) }
        while true {
            if let delivery = try takeNow() { return delivery }
            guard deadline.wait(for: changes.descriptor) else { return nil }
            drain: while true {
                switch try store({ () throws(SharedCoreError) in try changes.next() }) {
                case .event: continue
                case .nothing: break drain
                case .ended: throw closed
                }
            }
        }
    }

    private var closed: Failure { Failure(.closed, "The mailbox or its group was closed.", at: mailbox.path) }

    private func begin(_ wait: PollableEvents<WatchEvent>) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.waits[ObjectIdentifier(wait)] = wait }
            return !state.isClosed
        }
    }

    private func end(_ wait: PollableEvents<WatchEvent>) {
        state.withLock { _ = $0.waits.removeValue(forKey: ObjectIdentifier(wait)) }
    }
}

/// The descriptor of a mailbox: readable while a message may be there to take.
private final class Arrivals: Sendable {
    private let counter: EventCounter
    private let watch: Watch
    private let task: Task<Void, Never>

    /// Begins to watch a mailbox. The descriptor is readable at first: a message may be there.
    init(at mailbox: QueueMailbox) throws(Failure) {
        do throws(SystemCallError) {
            counter = try EventCounter()
        } catch {
            throw Failure(SharedCoreError(error))
        }
        watch = try wait { () async throws(SharedCoreError) in try await mailbox.watch(from: .now) }
        counter.raise()
        task = Task.detached(executorPreference: mailbox.store.deliveryExecutor) { [counter, watch] in
            var goesOn = true
            while goesOn, !Task.isCancelled {
                do throws(SharedCoreError) {
                    while let event = try await watch.next() {
                        if mailbox.mayHaveMessage(after: event) { counter.raise() }
                    }
                    goesOn = false
                } catch {
                    // Ignore the error: the next take fails with the same error and reports it. After a temporary one
                    // the watch goes on, because the program keeps its descriptor.
                    goesOn = ![.closed, .sessionEnded].contains(error.code)
                }
                counter.raise()
                if goesOn { try? await Task.sleep(for: resumingPause) }
            }
        }
    }

    var descriptor: Int32 { counter.descriptor }

    func raise() { counter.raise() }

    func clear() { counter.clear() }

    /// Ends the watch. Its end wakes the threads that poll.
    func cancel() {
        watch.cancel()
        task.cancel()
    }
}

extension QueueMailbox {
    /// Returns true if an event means that a message has come, or that a take has ended while its message is still in
    /// the queue.
    fileprivate func mayHaveMessage(after event: WatchEvent) -> Bool {
        guard case .changes(let changes) = event else { return true }
        var removed: Set<ItemName> = []
        var untaken: [ItemName] = []
        for change in changes.changes {
            guard let place = keys.place(of: change.key) else { continue }
            switch (place.part, change.new) {
            case (.message, .some): return true
            case (.message, nil): removed.insert(place.item)
            case (.take, nil): untaken.append(place.item)
            default: break
            }
        }
        return untaken.contains { !removed.contains($0) }
    }
}

/// A message that was taken.
final class DeliveryObject: HandleObject {
    let mailbox: QueueMailbox
    let delivery: QueueDelivery

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox) {
        self.delivery = delivery
        self.mailbox = mailbox
    }

    /// Does nothing: the message stays taken until the session ends.
    func close() {}
}

@c @implementation public func sc_mailbox_open(
    _ group: UInt64, _ path: UnsafePointer<CChar>?, _ capacity: UInt64, _ overflow: Int32,
    _ mailbox: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(mailbox, "mailbox")
        result.pointee = 0
        let group = try Handles.find(group, as: GroupObject.self).store
        var options = QueueOptions(capacity: capacity == 0 ? nil : Int(clamping: capacity))
        switch Int(overflow) {
        case Int(SC_REFUSE): options.overflow = .refuse
        case Int(SC_DROP_OLDEST): options.overflow = .dropOldest
        default: throw Failure(.invalidArgument, "There is no overflow \(overflow).", at: "overflow")
        }
        let path = try text(path, "path")
        let mailbox = try store { () throws(SharedCoreError) in
            try QueueMailbox(group, path: path, options: options)
        }
        result.pointee = try Handles.add(MailboxObject(mailbox))
        return Answer.ok
    }
}

@c @implementation public func sc_send(
    _ mailbox: UInt64, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ revision: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let mailbox = try Handles.find(mailbox, as: MailboxObject.self).mailbox
        let bytes = try CLibrary.bytes(bytes, count, "bytes")
        let receipt = try wait { () async throws(SharedCoreError) in try await mailbox.send(bytes) }
        revision?.pointee = receipt.revision.rawValue
        return Answer.ok
    }
}

@c @implementation public func sc_take(
    _ mailbox: UInt64, _ timeout: Int64, _ delivery: UnsafeMutablePointer<UInt64>?,
    _ bytes: UnsafeMutablePointer<sc_bytes>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let handle = try required(delivery, "delivery")
        let content = try required(bytes, "bytes")
        handle.pointee = 0
        content.pointee = sc_bytes()
        let object = try Handles.find(mailbox, as: MailboxObject.self)
        guard let taken = try object.take(until: Deadline(timeout), waits: timeout != 0) else { return Answer.nothing }
        handle.pointee = try Handles.add(DeliveryObject(taken, of: object.mailbox))
        var block = Block(size: taken.bytes.count)
        content.pointee = sc_bytes(bytes: block.bytes(taken.bytes), count: taken.bytes.count)
        return Answer.ok
    }
}

@c @implementation public func sc_bytes_free(_ bytes: UnsafeMutablePointer<sc_bytes>?) {
    guard let bytes, !ForkedChild.isCurrent else { return }
    Block.free(bytes.pointee.bytes)
    bytes.pointee = sc_bytes()
}

@c @implementation public func sc_acknowledge(
    _ delivery: UInt64, _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(delivery, as: DeliveryObject.self)
        let answer = try wait { () async throws(SharedCoreError) in
            try await object.mailbox.acknowledge(object.delivery)
        }
        _ = Handles.remove(delivery)
        if case .superseded = answer { acknowledged?.pointee = 0 } else { acknowledged?.pointee = 1 }
        return Answer.ok
    }
}

@c @implementation public func sc_give_back(
    _ delivery: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(delivery, as: DeliveryObject.self)
        try wait { () async throws(SharedCoreError) in try await object.mailbox.giveBack(object.delivery) }
        _ = Handles.remove(delivery)
        return Answer.ok
    }
}

@c @implementation public func sc_acknowledge_with(
    _ delivery: UInt64, _ guards: UnsafePointer<sc_guard>?, _ guardCount: Int,
    _ operations: UnsafePointer<sc_operation>?, _ operationCount: Int, _ acknowledged: UnsafeMutablePointer<Int32>?,
    _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(delivery, as: DeliveryObject.self)
        let mailbox = object.mailbox
        var transaction = try transaction(guards, guardCount, operations, operationCount)
        try store { () throws(SharedCoreError) in
            try mailbox.addAcknowledgement(of: object.delivery, to: &transaction)
        }
        // The guards of the program come first, so a failed guard of the program is reported even if the take has also
        // ended.
        let commit = try wait { [transaction] () async throws(SharedCoreError) -> Revision? in
            do throws(SharedCoreError) {
                return try await mailbox.store.commit(transaction).revision
            } catch {
                guard (error.guardFailure?.index ?? 0) >= guardCount, mailbox.isOutdated(error) else { throw error }
                return nil
            }
        }
        _ = Handles.remove(delivery)
        acknowledged?.pointee = commit == nil ? 0 : 1
        revision?.pointee = commit?.rawValue ?? 0
        return Answer.ok
    }
}
