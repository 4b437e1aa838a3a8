internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The program of a core: a child process, and the thread that exchanges messages with it until its end.
///
/// The thread polls and never waits for anything else: a task answers the requests of the program, one after another.
/// The kernel kills the program when the thread ends, and so with this process.
final class CoreProgram: Sendable {
    typealias Answering = @Sendable (ProgramRequest, CoreProgram) async -> Result<JSONObject, Refusal>
    typealias Hearing = @Sendable (Result<JSONObject, Refusal>) async -> Void

    /// How many requests of each side may be unanswered. While the program has so many unanswered requests, or requests
    /// of the maximum length in total, its output is not read.
    static let unansweredCount = 32
    static let unansweredByteCount = 4 << 20
    /// The longest line. A text of the maximum size has six times its length if each of its characters is escaped. A
    /// program with a longer message must report it as too large.
    static let lineByteCount = 2 << 20
    /// How long a program that has closed a stream may take to end.
    static let closingTime = Duration.seconds(1)
    /// How many refusals are answered at once, and the delay of each further one.
    static let refusalCount = 64
    static let refusalPause = Duration.milliseconds(10)
    /// The time after which SIGKILL is sent again if the program has not ended.
    static let killInterval = Duration.seconds(1)

    enum RequestID {
        static let start: Int64 = 1
        static let stop: Int64 = 2
        /// The id of the first other request; the following ones count up.
        static let first: Int64 = 3
    }

    /// When a program that is told to stop gets SIGTERM, and when SIGKILL.
    struct Stopping {
        let terminateAt: BootInstant
        let killAt: BootInstant
        var isTerminated = false
    }

    /// A line for the program.
    struct Outgoing {
        var bytes: ArraySlice<UInt8>
        /// The request that it answers; nil for a request to the program.
        let request: ProgramRequest?
    }

    struct State {
        var outgoing: [Outgoing] = []
        var unansweredCount = 0
        var unansweredByteCount = 0
        /// The program's requests that have not had their turn, and whether a task answers them.
        var requests: [ProgramRequest] = []
        var isAnswering = false
        var overload = Overload()
        var refusals: Allowance
        /// The handlers for the program's answers, by the id of the request.
        var asked: [Int64: Hearing] = [:]
        var nextID = RequestID.first
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastTask = 0
        /// The deadline for the answer to `start`; nil while no answer is expected.
        var startLimit: BootInstant?
        var isStartSent = false
        var startAnswer: Result<JSONObject, CommandCoreError>?
        var stopping: Stopping?
        /// The deadline for its end, because it has closed a stream.
        var closingLimit: BootInstant?
        var failure: CommandCoreError?
        /// The problem that arose after the program was told to stop, as text for users.
        var problemInStop: String?
        var isInputClosed = false
        /// Why the program cannot run as a core any more; nil while the program, or a process that it has started,
        /// runs.
        var end: CommandCoreError?

        var mayRead: Bool {
            failure == nil && unansweredCount < CoreProgram.unansweredCount
                && unansweredByteCount < CoreProgram.unansweredByteCount
        }

        mutating func release(_ request: ProgramRequest?) {
            guard let request else { return }
            unansweredCount -= 1
            unansweredByteCount -= request.byteCount
        }

        /// Removes and returns the next request. Returns nil if none waits; no task answers then.
        mutating func nextRequest() -> ProgramRequest? {
            isAnswering = !requests.isEmpty
            return requests.isEmpty ? nil : requests.removeFirst()
        }

        mutating func closeInput() {
            isInputClosed = true
            for line in outgoing { release(line.request) }
            outgoing = []
        }
    }

    let program: StreamedProgram
    let mark: LaunchMark
    let wake: EventCounter
    let errors: ErrorLines
    let answering: Answering
    let clock: any TimeSource
    let state: Mutex<State>
    /// Wakes the task that waits for the start or the end.
    let changed = AsyncEvent()
    let ended = Promise<Void>()

    /// The process number of the program.
    var pid: Int32 { program.pid }

    private init(
        _ program: StreamedProgram, mark: LaunchMark, wake: EventCounter, clock: any TimeSource,
        log: @escaping @Sendable (String) -> Void, answering: @escaping Answering
    ) {
        self.program = program
        self.mark = mark
        self.wake = wake
        self.answering = answering
        self.clock = clock
        state = Mutex(State(refusals: Allowance(Self.refusalCount, then: Self.refusalPause, at: clock.now())))
        errors = ErrorLines("core \(program.pid)", at: clock.now(), to: log)
    }

    /// Starts a program, and sends it nothing yet.
    ///
    /// - Parameters:
    ///   - mark: The mark in its environment, which the processes that it starts inherit.
    ///   - log: Called with the lines of its standard error.
    ///   - answering: Called to answer its requests, one after another.
    static func start(
        _ path: String, _ arguments: [String], variables: [String: String], omitting omitted: Set<String>,
        mark: LaunchMark, clock: any TimeSource = SystemClock(), log: @escaping @Sendable (String) -> Void,
        answering: @escaping Answering
    ) async throws(SystemCallError) -> CoreProgram {
        try await OwnedThread.start("core") { () throws(SystemCallError) in
            let wake = try EventCounter()
            let program = try StreamedProgram(path, arguments, variables: variables, omitting: omitted)
            return CoreProgram(program, mark: mark, wake: wake, clock: clock, log: log, answering: answering)
        } then: { program in
            program.attend()
        }
    }

    /// Returns true once, when the timeline must report that the program sends too many requests.
    func takeOverload() -> Bool { state.withLock { $0.overload.take() } }

    // MARK: - For the core

    /// Sends `start`, and waits for the answer.
    ///
    /// - Returns: The result of `start`.
    /// - Throws: ``CommandCoreError``; `CancellationError`.
    func begin(_ parameters: JSONObject, within timeout: Duration) async throws -> JSONObject {
        state.withLock { state in
            guard state.stopping == nil else { return }
            state.isStartSent = true
            state.startLimit = clock.now().advanced(by: timeout)
            state.outgoing.append(
                Outgoing(
                    bytes: ProgramMessage.request("start", parameters, id: RequestID.start)[...], request: nil))
        }
        wake.raise()
        while true {
            let (answer, end) = state.withLock { ($0.startAnswer, $0.end) }
            if let end { throw end }
            if case .success(let result) = answer { return result }
            try Task.checkCancellation()
            await changed.wait()
        }
    }

    /// Sends it a request.
    ///
    /// - Parameter hearing: Called with its answer. Not called if the program ends before.
    /// - Returns: True if the request was sent. False if the program must stop or ends, or if ``unansweredCount`` of
    ///   these requests are unanswered.
    func ask(_ method: String, _ parameters: JSONObject, hearing: @escaping Hearing) -> Bool {
        let isAsked = state.withLock { state in
            guard state.stopping == nil, state.failure == nil, state.end == nil, !state.isInputClosed,
                state.asked.count < Self.unansweredCount
            else { return false }
            let id = state.nextID
            state.nextID += 1
            state.asked[id] = hearing
            state.outgoing.append(
                Outgoing(bytes: ProgramMessage.request(method, parameters, id: id)[...], request: nil))
            return true
        }
        if isAsked { wake.raise() }
        return isAsked
    }

    /// Waits until the program cannot run as a core any more.
    ///
    /// - Throws: The reason, always; `CancellationError`.
    func untilEnd() async throws {
        while true {
            if let end = state.withLock({ $0.end }) { throw end }
            try Task.checkCancellation()
            await changed.wait()
        }
    }

    /// Tells it to stop, and ends it when its time is over: by SIGTERM after a half, by SIGKILL after three quarters.
    /// Only the first call counts. Returns at once.
    func stop(_ parameters: JSONObject, within timeout: Duration) {
        state.withLock { state in
            guard state.stopping == nil else { return }
            let now = clock.now()
            state.startLimit = nil
            // A program that was never sent `start` has nothing to stop.
            let time = state.isStartSent ? timeout : .zero
            state.stopping = Stopping(
                terminateAt: now.advanced(by: time / 2), killAt: now.advanced(by: time * 3 / 4))
            guard state.isStartSent, !state.isInputClosed else { return }
            state.outgoing.append(
                Outgoing(bytes: ProgramMessage.request("stop", parameters, id: RequestID.stop)[...], request: nil))
        }
        wake.raise()
    }

    /// Waits until it and all processes that it has started have ended, also in a cancelled task.
    ///
    /// - Returns: The problem that arose after it was told to stop; nil if there was none.
    func untilEnded() async -> String? {
        await ended.pass()
        return state.withLock(\.problemInStop)
    }

    /// Waits until all of its requests and answers were handled, also in a cancelled task.
    func untilAnswered() async {
        while let task = state.withLock({ $0.tasks.first?.value }) { await task.value }
    }

    /// Cancels the work of its requests: the program no longer exists to get the results.
    func cancelAnswers() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }
}
