internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The thread that talks with the program.
extension CoreProgram {
    /// The state of the thread.
    private struct Attendance {
        var lines = LineBuffer(maximumByteCount: CoreProgram.lineByteCount)
        var isOutputOpen = true
        var areErrorsOpen = true
    }

    func attend() {
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

    /// Performs the steps that are due.
    ///
    /// - Returns: The time until the next step; nil if there is none before an event.
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
                // Report the end of the program only if it was not killed because of an error.
                if state.isStartSent, state.failure == nil {
                    state.problemInStop =
                        "the core's program had not ended when three quarters of its time to stop were over, and was killed"
                }
                return (false, true, now.advanced(by: Self.killInterval))
            }
            let terminates = !stopping.isTerminated && stopping.terminateAt <= now
            if terminates {
                state.stopping?.isTerminated = true
                if state.isStartSent {
                    state.problemInStop =
                        "the core's program had not ended when half of its time to stop was over, and got SIGTERM"
                }
            }
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
            // A program that is stopping may close its streams one after another.
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

    /// Handles the received lines, up to the maximum number of unanswered requests.
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
            if !state.mayRead { state.overload.note(at: clock.now()) }
            guard !state.isAnswering else { return }
            state.isAnswering = true
            begin(&state) { [self] in await answerRequests() }
        }
    }

    /// Answers the requests in the order in which they came, until none waits, so that the program's last request takes
    /// effect last.
    private func answerRequests() async {
        while let request = state.withLock({ $0.nextRequest() }) {
            let answer = await answering(request, self)
            if case .failure(let refusal) = answer {
                errors.note(refusal, of: request, at: clock.now())
                await pauseBehindRefusal()
            }
            finish(request, answer)
        }
    }

    /// Pauses if many requests are refused. A program that repeats refused requests in a loop would otherwise keep a
    /// processor busy.
    private func pauseBehindRefusal() async {
        let now = clock.now()
        guard !state.withLock({ $0.refusals.take(at: now) }) else { return }
        try? await clock.sleep(until: now.advanced(by: Self.refusalPause))
    }

    /// Begins a task that ``untilAnswered()`` waits for.
    func begin(_ state: inout State, _ body: @escaping @Sendable () async -> Void) {
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

    /// Reads the last output of the ended program, and ends the processes that it has started.
    private func finish(_ attendance: inout Attendance) {
        // Reads only the bytes that are available now: processes that the program has started may have inherited its
        // streams, and may go on to write.
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
