internal import Coordination
internal import CoreAPI

struct MessengerServer: Sendable {}

struct MessengerCore: Core {
    let server: MessengerServer

    func start(in context: CoreContext) async throws {}

    func iterate(in context: CoreContext) async throws {}

    func stop() async {}
}

protocol Application: Sendable {
    func run(epoch: Revision?) async throws
}

func takePart(in group: any SharedGroup, with server: MessengerServer, as application: any Application) async throws {
    try await group.withMain(core: { MessengerCore(server: server) }) { main in
        try await application.run(epoch: main.epoch)
    }
}

protocol SleepingApplication: Sendable {
    func staysAwake(because error: CoordinationError) async
}

func sleep(_ main: MainParticipant, for application: some SleepingApplication) async {
    do throws(CoordinationError) {
        try await main.rest()  // the core is quiet and registered, the host owns for it
    } catch {
        await application.staysAwake(because: error)  // its core has gone on
    }
}

func restAgain(_ main: MainParticipant, after wakes: AsyncStream<Wake>) async throws {
    for await wake in wakes where wake != .user {
        while await !main.isAtRest {
            do throws(CoordinationError) {
                try await main.rest()
            } catch {
                guard error.code == .refused else { throw error }
                try await Task.sleep(for: .seconds(1))  // the work of this wake is not done
            }
        }
    }
}

protocol TelephoneCall: Sendable {
    var id: String { get }
    func accept() async
    func decline() async
    func untilItsEnd() async
}

protocol Telephone: Sendable {
    associatedtype Call: TelephoneCall
    var calls: AsyncStream<Call> { get }
    func endAllCalls() async
}

struct TelephoneCore<Line: Telephone>: Core {
    let telephone: Line

    func start(in context: CoreContext) async throws {}

    func iterate(in context: CoreContext) async throws {
        for await call in telephone.calls {
            do throws(SharedCoreError) {
                let activity = try await context.begin(.call, id: call.id)
                await call.accept()  // from here on a Main that asks for the core waits, for 4 hours at most
                await call.untilItsEnd()  // or until this task is cancelled, because the core is to stop
                try await activity.end()
            } catch {
                guard error.code == .guardFailed else { throw error }
                await call.decline()  // a Main waits, or the core is to stop: the next core gets the next call
            }
        }
    }

    func stop() async {}

    func stop(_ request: StopRequest) async {
        if let activity = request.activity { print("\(activity.describe()) lasts too long") }  // its bound has passed
        await telephone.endAllCalls()
    }
}

func takePushes(of main: MainParticipant, ring: (String, [UInt8]) async -> Void) async throws {
    for try await taken in try await main.pushes() {
        await ring(taken.push.account, taken.push.payload)
        try await main.acknowledge(taken)
    }
}

// Examples/MessengerApp compiles the README's listing; it stands here too, so that no change of the library forgets it.

func runMain(in group: any SharedGroup, with server: MessengerServer, say: @escaping @Sendable (String) -> Void)
    async throws
{
    try await group.withMain(core: { MessengerCore(server: server) }) { _ in  // an Executor hands over first
        try await group.put("contacts/zoe", Array("online".utf8))  // the dictionary: get, list, watch, transactions
        try await group.post("contacts-changed")  // wakes every process that observes the name
        let closing = try await group.observe("messenger/close")
        say("Main runs the core.")
        _ = try await closing.next()  // until its user closes it
    }  // throws when the core is gone for good; on every path it is stopped and the group is closed
}

func runExecutor(
    in group: any SharedGroup, with server: MessengerServer, for callID: CallID, show: (InboxMessage) -> Void
) async throws {
    try await group.withExecutor(core: { MessengerCore(server: server) }) { executor in
        let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
        if case .message(let taken) = answer.content {  // from the process that has it, or from a core run here
            show(taken.message)
            try await executor.acknowledge(taken)  // once for all processes
        }
    }  // also when the message does not come: its core fetches what others wait for, then the group is closed
}
