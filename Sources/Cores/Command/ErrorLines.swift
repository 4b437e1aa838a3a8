internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The standard error of a core's program as log lines, with a limit for each line and for all of them together.
final class ErrorLines: Sendable {
    /// The longest line, and how many are written at once and then in each tenth of a second, and may wait to be written.
    static let lineByteCount = 1 << 10
    static let capacity = 100

    private struct State {
        var lines = LineBuffer(maximumByteCount: ErrorLines.lineByteCount)
        var allowance: Allowance
        /// True while the rest of a line that was too long is skipped.
        var isCut = false
        var waitingCount = 0
        var droppedCount = 0
    }

    private let name: String
    private let write: @Sendable (String) -> Void
    private let state: Mutex<State>
    // The log that takes the lines may block, for example at a full pipe.
    private let thread = SerialThread(name: "core's log")

    init(_ name: String, at now: BootInstant, to write: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.write = write
        state = Mutex(State(allowance: Allowance(Self.capacity, then: .milliseconds(100), at: now)))
    }

    /// Adds bytes that the program has written. Returns at once.
    func take(_ bytes: [UInt8], at now: BootInstant) {
        let texts = state.withLock { state in
            var texts: [String] = []
            state.lines.append(bytes)
            while let line = state.lines.next() {
                if !state.isCut { Self.add(line, to: &texts, &state, at: now) }
                state.isCut = false
            }
            if state.lines.isTooLong {
                let rest = state.lines.takeRest()
                if !state.isCut { Self.add(rest, to: &texts, &state, at: now) }
                state.isCut = true
            }
            return texts
        }
        submit(texts)
    }

    /// Logs that a request of the program was refused: the program gets the refusal, but may not report it to the user.
    func note(_ refusal: Refusal, of request: ProgramRequest, at now: BootInstant) {
        let line = "“\(request.method)” was refused: \(refusal.message)"
        submit(
            state.withLock { state in
                var texts: [String] = []
                Self.add(Array(line.utf8), to: &texts, &state, at: now)
                return texts
            })
    }

    /// Passes on the last line, and the number of dropped lines, when the program has ended.
    func finish(at now: BootInstant) {
        let texts = state.withLock { state in
            var texts: [String] = []
            let rest = state.lines.takeRest()
            if !rest.isEmpty, !state.isCut { Self.add(rest, to: &texts, &state, at: now) }
            Self.tellDropped(to: &texts, &state)
            return texts
        }
        submit(texts)
    }

    private static func add(_ line: [UInt8], to texts: inout [String], _ state: inout State, at now: BootInstant) {
        guard state.waitingCount < capacity, state.allowance.take(at: now) else {
            state.droppedCount += 1
            return
        }
        tellDropped(to: &texts, &state)
        texts.append(ProgramText.oneLine(ProgramText.escaped(line), upTo: lineByteCount))
        state.waitingCount += 1
    }

    private static func tellDropped(to texts: inout [String], _ state: inout State) {
        guard state.droppedCount > 0 else { return }
        texts.append("… (\(state.droppedCount) lines more)")
        state.waitingCount += 1
        state.droppedCount = 0
    }

    /// Passes lines on, on the log's thread. Must not be called under the lock: if the system has no thread left, the
    /// jobs run on the calling thread, and each takes the lock.
    private func submit(_ texts: [String]) {
        for text in texts {
            thread.submit { [self] in
                write("\(name): \(text)")
                state.withLock { $0.waitingCount -= 1 }
            }
        }
    }
}
