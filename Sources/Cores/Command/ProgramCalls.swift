internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Carries out the requests of a core's program.
final class ProgramCalls: Sendable {
    /// Compared byte by byte.
    private struct ActivityName: Hashable {
        private let name: [UInt8]
        private let id: [UInt8]

        init(name: String, id: String) {
            self.name = Array(name.utf8)
            self.id = Array(id.utf8)
        }
    }

    private let context: CoreContext
    private let calls: ProgramOpenCalls
    private let activities = Mutex<[ActivityName: OpenActivity]>([:])
    private let reports: Mutex<Allowance>
    private let clock: any TimeSource

    /// The number of reports that are accepted at once; after that, one each second.
    static let reportCapacity = 16

    init(in context: CoreContext, clock: any TimeSource = SystemClock()) {
        self.context = context
        calls = ProgramOpenCalls(in: context)
        self.clock = clock
        reports = Mutex(Allowance(Self.reportCapacity, then: .seconds(1), at: clock.now()))
    }

    /// Answers a request of a program.
    func answer(_ request: ProgramRequest, of program: CoreProgram) async -> Result<
        JSONObject, Refusal
    > {
        if program.takeOverload() { await context.report(Overload.problem) }
        do throws(Refusal) {
            let call = try ProgramCall(request)
            do throws(SharedCoreError) {
                return .success(try await perform(call, of: program))
            } catch {
                throw Refusal(error)
            }
        } catch {
            return .failure(error)
        }
    }

    /// Waits until no work for the program is left. It has ended, and its requests with it.
    func finish() async { await calls.finish() }

    /// Cancels the pending requests to the store.
    func cancel() { calls.cancel() }

    private func perform(
        _ call: ProgramCall, of program: CoreProgram
    ) async throws(SharedCoreError) -> JSONObject {
        switch call {
        case .deliver(let message):
            let result = try await context.deliver(message)
            return ["outcome": result == .stored ? "stored" : "duplicate"]
        case .update(let message): return Self.outcome(of: try await context.update(message))
        case .withdraw(let id): return Self.outcome(of: try await context.withdraw(id))
        case .beginActivity(let kind, let id, let expectedEnd):
            let activity = try await context.begin(kind, id: id, expectedEnd: expectedEnd)
            activities.withLock { $0[ActivityName(name: kind.name, id: id)] = activity }
            return [:]
        case .endActivity(let name, let id):
            let key = ActivityName(name: name, id: id)
            // This includes an activity that the call itself has begun.
            if name == Activity.Kind.call.name, calls.hasOne(withActivity: id) {
                throw SharedCoreError(
                    .guardFailed, "The activity belongs to a call, and ends only with it.", at: "activity")
            }
            // An unknown activity has ended already, so there is nothing to do.
            guard let activity = activities.withLock({ $0[key] }) else { return [:] }
            try await activity.end()
            activities.withLock { $0[key] = nil }
            return [:]
        case .beginCall(let description, let state):
            try await calls.begin(description, in: state, of: program)
            return [:]
        case .changeCall(let id, let state, let media):
            try await calls.change(id, to: state, media: media)
            return [:]
        case .report(let problem):
            guard reports.withLock({ $0.take(at: clock.now()) }) else {
                throw SharedCoreError(
                    .limitExceeded, "\(Self.reportCapacity) reports are taken at once, then one in each second.",
                    at: "report")
            }
            await context.report(ProgramText.oneLine(problem, upTo: Self.reportByteCount))
            return [:]
        }
    }

    private static func outcome(of change: MessageChange) -> JSONObject {
        switch change {
        case .changed: ["outcome": "changed"]
        case .changedInHand: ["outcome": "changedInHand"]
        case .over: ["outcome": "over"]
        case .absent: ["outcome": "absent"]
        }
    }

    /// The longest report.
    private static let reportByteCount = 1 << 10
}
