internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The program of a core: a child process, the thread that talks with it, and its end.
///
/// The thread polls and never waits for anything else: a task answers the requests of the program, one after another. The kernel kills the
/// program when the thread is gone, and so with this process.
final class CoreProgram: Sendable {
    typealias Answering = @Sendable (ProgramRequest, CoreProgram) async -> Result<JSONObject, Refusal>
    typealias Hearing = @Sendable (Result<JSONObject, Refusal>) async -> Void

    /// How many requests may be unanswered, of each side. So many of the program's, or of this length together, and no more is read.
    static let unansweredCount = 32
    static let unansweredByteCount = 4 << 20
    /// The longest line. A text of the largest value has six times its length where each of its characters is escaped; a program that
    /// needs more has to say that its message is too large.
    static let lineByteCount = 2 << 20
    /// How long one that has closed a stream may take to end.
    private static let closingTime = Duration.seconds(1)
    /// How long until a kill that has not ended it is tried again.
    private static let killInterval = Duration.seconds(1)

    private enum RequestID {
        static let start: Int64 = 1
        static let stop: Int64 = 2
        /// Of the first other request; the next ones follow.
        static let first: Int64 = 3
    }

    /// When a program that is told to stop is asked to end by a signal, and when it is killed.
    private struct Stopping {
        let terminateAt: BootInstant
        let killAt: BootInstant
        var isTerminated = false
    }

    /// A line for the program.
    private struct Outgoing {
        var bytes: ArraySlice<UInt8>
        /// The request that it answers; nil for a request to the program.
        let request: ProgramRequest?
    }

    private struct State {
        var outgoing: [Outgoing] = []
        var unansweredCount = 0
        var unansweredByteCount = 0
        /// The program's requests that have not had their turn, and whether a task answers them.
        var requests: [ProgramRequest] = []
        var isAnswering = false
        /// What takes the answers to the requests to the program.
        var asked: [Int64: Hearing] = [:]
        var nextID = RequestID.first
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastTask = 0
        /// Until when `start` is to be answered; nil while that is not waited for.
        var startLimit: BootInstant?
        var isStartSent = false
        var startAnswer: Result<JSONObject, CommandCoreError>?
        var stopping: Stopping?
        /// Until when it is to end, because it has closed a stream.
        var closingLimit: BootInstant?
        var failure: CommandCoreError?
        /// What was wrong when it was told to stop already, for people.
        var problemInStop: String?
        var isInputClosed = false
        /// Why it is no core any more; nil while it runs, or what it has started does.
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

        /// The request whose turn it is; nil where none waits, and then nothing answers.
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

    private let program: StreamedProgram
    private let mark: LaunchMark
    private let wake: EventCounter
    private let errors: ErrorLines
    private let answering: Answering
    private let clock: any TimeSource
    private let state = Mutex(State())
    /// Wakes the task that waits for the start or the end.
    private let changed = AsyncEvent()
    private let ended = Promise<Void>()

    /// Its process number.
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
        errors = ErrorLines("core \(program.pid)", at: clock.now(), to: log)
    }

    /// Starts a program, which is told nothing yet.
    ///
    /// - Parameters:
    ///   - mark: What is in its environment, and in that of all that it starts.
    ///   - log: Takes the lines of its standard error.
    ///   - answering: Answers its requests, one after another.
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

    // MARK: - For the core

    /// Has it connect.
    ///
    /// - Returns: What it says of itself.
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

    /// Asks it for something.
    ///
    /// - Parameter hearing: Given its answer. It is not called where the program ends before.
    /// - Returns: Whether it is asked: not when it is to stop or ends, nor when ``unansweredCount`` of these requests are unanswered.
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

    /// Waits until it is no core any more.
    ///
    /// - Throws: The reason, always; `CancellationError`.
    func untilEnd() async throws {
        while true {
            if let end = state.withLock({ $0.end }) { throw end }
            try Task.checkCancellation()
            await changed.wait()
        }
    }

    /// Tells it to stop, and ends it when its time is over: by SIGTERM after a half, by SIGKILL after three quarters. The first call
    /// counts. Returns at once.
    func stop(_ parameters: JSONObject, within timeout: Duration) {
        state.withLock { state in
            guard state.stopping == nil else { return }
            let now = clock.now()
            state.startLimit = nil
            // One that was never told to start has nothing to stop.
            let time = state.isStartSent ? timeout : .zero
            state.stopping = Stopping(
                terminateAt: now.advanced(by: time / 2), killAt: now.advanced(by: time * 3 / 4))
            guard state.isStartSent, !state.isInputClosed else { return }
            state.outgoing.append(
                Outgoing(bytes: ProgramMessage.request("stop", parameters, id: RequestID.stop)[...], request: nil))
        }
        wake.raise()
    }

    /// Returns when it has ended, and all that it has started, also in a task that is cancelled.
    ///
    /// - Returns: What was wrong when it was told to stop already; nil where nothing was.
    func untilEnded() async -> String? {
        await ended.pass()
        return state.withLock(\.problemInStop)
    }

    /// Returns when all of its requests and answers are done with, also in a task that is cancelled.
    func untilAnswered() async {
        while let task = state.withLock({ $0.tasks.first?.value }) { await task.value }
    }

    /// Ends what its requests and answers have begun: it is not there to hear of it.
    func cancelAnswers() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    // MARK: - Its thread

    /// What the thread remembers.
    private struct Attendance {
        var lines = LineBuffer(maximumByteCount: CoreProgram.lineByteCount)
        var isOutputOpen = true
        var areErrorsOpen = true
    }

    private func attend() {
        var attendance = Attendance()
        while true {
            let timeout = act(at: clock.now())
            var interest: StreamedProgram.Interest = []
            state.withLock { state in
                if attendance.isOutputOpen, state.mayRead { interest.insert(.output) }
                if !state.isInputClosed { interest.insert(.closedInput) }
                if !state.outgoing.isEmpty { interest.insert(.input) }
            }
            if attendance.areErrorsOpen { interest.insert(.errors) }
            let (hasEnded, ready) = program.wait(for: interest, or: wake, timeout: timeout)
            if ready.contains(.errors) { readErrors(upTo: 4 << 10, &attendance) }
            if ready.contains(.closedInput) { noteClosing(ofInput: true) }
            if ready.contains(.input) { send() }
            if ready.contains(.output) { read(upTo: 64 << 10, &attendance) }
            handleLines(&attendance)
            if hasEnded { return finish(&attendance) }
        }
    }

    /// Does what is due.
    ///
    /// - Returns: How long nothing else is; nil for as long as nothing happens.
    private func act(at now: BootInstant) -> Duration? {
        let (terminates, kills, next) = state.withLock { state -> (Bool, Bool, BootInstant?) in
            if let limit = state.startLimit, limit <= now {
                fail(CommandCoreError(.startTimeout, "the program has not answered “start” in time"), &state)
            }
            if let limit = state.closingLimit, limit <= now {
                fail(
                    CommandCoreError(
                        .closed, "the program has closed its \(state.isInputClosed ? "input" : "output") and runs on"),
                    &state)
            }
            if state.failure != nil { return (false, true, now.advanced(by: Self.killInterval)) }
            let limits = [state.startLimit, state.closingLimit].compactMap(\.self)
            guard let stopping = state.stopping else { return (false, false, limits.min()) }
            if stopping.killAt <= now {
                if state.isStartSent, state.problemInStop == nil {
                    state.problemInStop =
                        "the core's program had not ended when three quarters of its time to stop were over, and was killed"
                }
                return (false, true, now.advanced(by: Self.killInterval))
            }
            let terminates = !stopping.isTerminated && stopping.terminateAt <= now
            if terminates { state.stopping?.isTerminated = true }
            let due = stopping.isTerminated || terminates ? stopping.killAt : stopping.terminateAt
            return (terminates, false, (limits + [due]).min())
        }
        if terminates { program.terminate() }
        if kills { program.kill() }
        return next.map { now.duration(to: $0) }
    }

    private func fail(_ error: CommandCoreError, _ state: inout State) {
        state.startLimit = nil
        state.closingLimit = nil
        guard state.failure == nil else { return }
        state.failure = error
        if state.stopping != nil { state.problemInStop = "the core's program was killed while it stopped: \(error)" }
    }

    private func fail(_ error: CommandCoreError) {
        state.withLock { fail(error, &$0) }
    }

    private func noteClosing(ofInput isInput: Bool) {
        let limit = clock.now().advanced(by: Self.closingTime)
        state.withLock { state in
            if isInput { state.closeInput() }
            // One that stops may close its streams one after another.
            guard state.failure == nil, state.stopping == nil else { return }
            state.closingLimit = state.closingLimit ?? limit
        }
    }

    private func send() {
        state.withLock { state in
            while let first = state.outgoing.first {
                guard let count = program.send(first.bytes) else { return state.closeInput() }
                if count < first.bytes.count {
                    state.outgoing[0].bytes = first.bytes.dropFirst(count)
                    return
                }
                state.release(first.request)
                state.outgoing.removeFirst()
            }
        }
    }

    private func readErrors(upTo count: Int, _ attendance: inout Attendance) {
        let bytes = program.receiveErrors(upTo: count)
        attendance.areErrorsOpen = !bytes.isEmpty
        errors.take(bytes, at: clock.now())
    }

    private func read(upTo count: Int, _ attendance: inout Attendance) {
        guard let bytes = program.receive(upTo: count) else { return }
        attendance.lines.append(bytes)
        guard bytes.isEmpty else { return }
        attendance.isOutputOpen = false
        noteClosing(ofInput: false)
    }

    /// Handles the lines that have come, as many as may be unanswered.
    private func handleLines(_ attendance: inout Attendance) {
        while state.withLock(\.mayRead) {
            guard let line = attendance.lines.next() else {
                if attendance.lines.isTooLong {
                    fail(ProgramMessage.tooLong(attendance.lines.takeRest(), limit: Self.lineByteCount))
                }
                return
            }
            do throws(CommandCoreError) {
                guard line.count <= Self.lineByteCount else {
                    throw ProgramMessage.tooLong(line, limit: Self.lineByteCount)
                }
                switch try ProgramMessage(line) {
                case .request(let request): handle(request)
                case .answer(let id, let answer): try handle(answer, to: id, line)
                }
            } catch {
                fail(error)
            }
        }
    }

    private func handle(_ request: ProgramRequest) {
        state.withLock { state in
            state.unansweredCount += 1
            state.unansweredByteCount += request.byteCount
            state.requests.append(request)
            guard !state.isAnswering else { return }
            state.isAnswering = true
            begin(&state) { [self] in await answerRequests() }
        }
    }

    /// Answers the requests in the order in which they came, until none waits: what a program has asked for last is what stands.
    private func answerRequests() async {
        while let request = state.withLock({ $0.nextRequest() }) {
            let answer = await answering(request, self)
            if case .failure(let refusal) = answer { errors.note(refusal, of: request, at: clock.now()) }
            finish(request, answer)
        }
    }

    /// Begins a task that ``untilAnswered()`` waits for.
    private func begin(_ state: inout State, _ body: @escaping @Sendable () async -> Void) {
        state.lastTask += 1
        let number = state.lastTask
        state.tasks[number] = Task.detached { [self] in
            await body()
            self.state.withLock { $0.tasks[number] = nil }
        }
    }

    private func finish(_ request: ProgramRequest, _ answer: Result<JSONObject, Refusal>) {
        state.withLock { state in
            guard request.id != .null, !state.isInputClosed else { return state.release(request) }
            state.outgoing.append(
                Outgoing(bytes: ProgramMessage.answer(answer, to: request.id)[...], request: request))
        }
        wake.raise()
    }

    private func handle(
        _ answer: Result<JSONObject, Refusal>, to id: JSONValue, _ line: [UInt8]
    ) throws(CommandCoreError) {
        let wasAsked = state.withLock { state in
            switch id {
            case .integer(RequestID.start) where state.isStartSent && state.startAnswer == nil:
                let result = Self.startResult(answer)
                state.startAnswer = result
                state.startLimit = nil
                if case .failure(let error) = result { fail(error, &state) }
                return true
            case .integer(RequestID.stop): return state.stopping != nil
            case .integer(let number):
                guard let hearing = state.asked.removeValue(forKey: number) else { return false }
                begin(&state) { await hearing(answer) }
                return true
            default: return false
            }
        }
        guard wasAsked else { throw ProgramMessage.malformed(line) }
        changed.signal()
    }

    /// The number of the protocol's version.
    static let version: Int64 = 1

    private static func startResult(_ answer: Result<JSONObject, Refusal>) -> Result<JSONObject, CommandCoreError> {
        switch answer {
        case .failure(let refusal):
            let message = ProgramText.oneLine(refusal.message, upTo: 512)
            return .failure(CommandCoreError(.startRefused, "the program does not start: \(message)"))
        case .success(let result):
            guard result["protocol"] == .integer(version) else {
                return .failure(
                    CommandCoreError(.version, "the program does not speak version \(version) of the protocol"))
            }
            return .success(result)
        }
    }

    /// The program has ended: hears what it has said last, and ends what it has started.
    private func finish(_ attendance: inout Attendance) {
        // What is there, and no more: what it has started may have its streams and write on.
        var left = attendance.areErrorsOpen ? program.waitingErrorByteCount : 0
        while left > 0 {
            let bytes = program.receiveErrors(upTo: min(left, 64 << 10))
            errors.take(bytes, at: clock.now())
            left = bytes.isEmpty ? 0 : left - bytes.count
        }
        errors.finish(at: clock.now())
        state.withLock { $0.closeInput() }
        left = attendance.isOutputOpen ? program.waitingByteCount : 0
        while left > 0, state.withLock(\.mayRead), let bytes = program.receive(upTo: min(left, 64 << 10)) {
            attendance.lines.append(bytes)
            handleLines(&attendance)
            left = bytes.isEmpty ? 0 : left - bytes.count
        }
        let end = program.reap()
        _ = MarkedProcesses.end { [mark] in MarkedProcesses.kill(as: .core) { _, found in found == mark } }
        state.withLock { state in
            state.asked = [:]
            state.end = state.failure ?? CommandCoreError(.ended, "the program \(end)")
        }
        ended.open()
        changed.signal()
    }
}
