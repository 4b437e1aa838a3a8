// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

// Source: contract P13.

/// The pushes for a Main. One push is taken before the program asks for it. If the program never gets this push, it is
/// given back.
final class PushesObject: PollableObject {
    /// The pushes that the Main has taken and that the program has not got yet.
    private final class Ahead: Sendable {
        private struct State {
            var pushes: [TakenPush] = []
            var isOver = false
        }

        private let state = Mutex(State())

        /// Adds a push. Returns false if the sequence has ended, so that the program does not get the push.
        func add(_ push: TakenPush) -> Bool {
            state.withLock { state in
                if !state.isOver { state.pushes.append(push) }
                return !state.isOver
            }
        }

        /// Removes a push that the program gets now. Returns false if the push was given back already.
        func remove(_ push: TakenPush) -> Bool {
            state.withLock { state in
                guard let index = state.pushes.firstIndex(of: push) else { return false }
                state.pushes.remove(at: index)
                return true
            }
        }

        func end() -> [TakenPush] {
            state.withLock { state in
                state.isOver = true
                defer { state.pushes = [] }
                return state.pushes
            }
        }
    }

    let main: MainParticipant
    private let ahead: Ahead
    private let events: Resuming<TakenPush>

    init(_ pushes: MainPushes, of main: MainParticipant, on executor: (any TaskExecutor)?) throws(Failure) {
        self.main = main
        let ahead = Ahead()
        self.ahead = ahead
        let taking = Taking<MainPushes.AsyncIterator>(pushes)
        events = try Resuming(on: executor, next: next, cancel: { pushes.cancel() })
        @Sendable func next() async throws(Interruption) -> TakenPush? {
            do throws(CoordinationError) {
                guard let push = try await taking.next() else { return nil }
                if ahead.add(push) { return push }
                // Use a separate task: this one is cancelled, and a commit in a cancelled task does nothing.
                Task.detached { await main.letGo(of: push) }
                return nil
            } catch {
                throw Interruption(failure: Failure(error), isLast: error.code != .store)
            }
        }
    }

    var descriptor: Int32 { events.descriptor }

    /// Waits for the next push until the timeout, then returns `nothing`.
    func take(within timeout: Int64) throws(Failure) -> PollableEvents<TakenPush>.Next {
        switch try events.take(within: timeout) {
        case .nothing: return .nothing
        case .event(let push) where ahead.remove(push): return .event(push)
        case .event, .ended: return .ended
        }
    }

    func close() {
        CallingThread.wait { await self.end() }
    }

    /// Ends the sequence, and gives back what the program has not got. Idempotent.
    func end() async {
        events.cancel()
        for push in ahead.end() {
            do throws(CoordinationError) {
                try await main.giveBack(push)
            } catch {
                // Use a separate task, because the caller must not wait for a store that cannot answer now.
                Task.detached { [main] in await main.letGo(of: push) }
            }
        }
    }
}

/// A push that a Main has taken.
final class TakenPushObject: HandleObject {
    let push: TakenPush
    let main: MainParticipant

    init(_ push: TakenPush, of main: MainParticipant) {
        self.push = push
        self.main = main
    }

    /// Does nothing: the push stays taken until the session ends.
    func close() {}
}

extension Push {
    /// Returns the push as the structure of the header, at the beginning of a block of its own.
    fileprivate func placed() -> UnsafePointer<sc_push> {
        let texts = [callID.text, type, account]
        var block = Block(
            size: texts.reduce(MemoryLayout<sc_push>.stride + payload.count) { $0 + $1.utf8.count + 1 })
        let place = block.array(of: sc_push.self, count: 1)
        place.pointee = sc_push(
            size: MemoryLayout<sc_push>.size, call_id: block.text(callID.text), type: block.text(type),
            account: block.text(account), payload: block.bytes(payload), payload_count: payload.count)
        return UnsafePointer(place)
    }
}

@c @implementation public func sc_main_pushes(
    _ main: UInt64, _ pushes: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(pushes, "pushes")
        result.pointee = 0
        let (object, main) = try CLibrary.main(main)
        result.pointee = try Handles.add(try object.beginPushes(for: main))
        return Answer.ok
    }
}

@c @implementation public func sc_pushes_next(
    _ pushes: UInt64, _ timeout: Int64, _ taken: UnsafeMutablePointer<UInt64>?,
    _ push: UnsafeMutablePointer<UnsafePointer<sc_push>?>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let handle = try required(taken, "taken")
        let content = try required(push, "push")
        handle.pointee = 0
        content.pointee = nil
        let object = try Handles.find(pushes, as: PushesObject.self)
        switch try object.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let taken):
            handle.pointee = try Handles.add(TakenPushObject(taken, of: object.main))
            content.pointee = taken.push.placed()
            return Answer.ok
        }
    }
}

@c @implementation public func sc_push_free(_ push: UnsafeMutablePointer<UnsafePointer<sc_push>?>?) {
    guard !ForkedChild.isCurrent else { return }
    Block.free(at: push)
}

@c @implementation public func sc_push_acknowledge(
    _ taken: UInt64, _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenPushObject.self)
        let wasOwn = try waitForParticipant { () async throws(CoordinationError) in
            try await object.main.acknowledge(object.push)
        }
        _ = Handles.remove(taken)
        acknowledged?.pointee = wasOwn ? 1 : 0
        return Answer.ok
    }
}

@c @implementation public func sc_push_give_back(
    _ taken: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenPushObject.self)
        try waitForParticipant { () async throws(CoordinationError) in try await object.main.giveBack(object.push) }
        _ = Handles.remove(taken)
        return Answer.ok
    }
}
