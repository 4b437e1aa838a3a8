internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// `status --watch`: prints the report of `status` again after each change; on a terminal it replaces the one before.
struct StatusWatch: Sendable {
    /// The interval at which the revision is read, and so the minimum interval between two reports.
    private static let interval = Duration.milliseconds(200)
    /// The interval at which the whole report is read, because the state of processes and the ages change without a new
    /// revision. If the group must be opened for each read, it is read only at this interval.
    private static let longInterval = Duration.seconds(1)

    private let reports: GroupReports
    private let context: CommandContext
    private let clock = SystemClock()

    /// Returns true if the output is a terminal with a screen.
    static func hasScreen(json: Bool) -> Bool {
        !json && StandardStream.output.isTerminal && !["", "dumb"].contains(OwnProcess.text("TERM") ?? "")
    }

    init(_ reports: GroupReports, in context: CommandContext) {
        self.reports = reports
        self.context = context
    }

    /// Reports until its task is cancelled, or until no process reads the output any more.
    ///
    /// - Throws: The failure of the first read, as `status` does. A later failure is shown, and reading continues.
    func run() async throws {
        do {
            let first = try await reports.overview()
            let environment = context.resolution.environment
            try await context.output.whileRead {
                do {
                    if Self.hasScreen(json: context.output.json) {
                        let screen = StatusScreen(output: context.output, paint: .forOutput(in: environment))
                        try await show(first, on: screen)
                    } else {
                        try await print(first)
                    }
                } catch is CancellationError where Task.isCancelled {}
            }
        } catch let failure as GroupReports.Failure {
            throw failure.cause
        }
    }

    /// Prints one report for each change, with an empty line before each but the first.
    private func print(_ first: StatusOverview) async throws {
        var shown: JSONValue?
        var follower = Follower(first, at: clock.now())
        var problem: String?
        while true {
            let state = follower.overview.json.steady
            if state != shown {
                let overview = follower.overview
                let lines = shown == nil ? [] : [""]
                try await context.output.emit(lines: lines + overview.lines, json: overview.json)
                shown = state
            }
            try await pause()
            await follow(&follower)
            if follower.problem != problem {
                problem = follower.problem
                if let problem { StandardError.write("sharedcore: \(problem)") }
            }
        }
    }

    private func show(_ first: StatusOverview, on screen: StatusScreen) async throws {
        let signals = try ScreenSignals()
        try await screen.enter()
        do {
            var follower = Follower(first, at: clock.now())
            try await screen.draw(follower.overview.lines, problem: nil)
            while true {
                try await pause()
                switch signals.take() {
                case .stop:
                    await screen.leave()
                    try ProcessHandle(.current).signal(.stop)
                    try await screen.enter()
                    follower.isNew = true
                case .redraw:
                    // After a stop by another process the terminal has the shell's screen and settings.
                    try await screen.enter()
                    follower.isNew = true
                case nil: break
                }
                await follow(&follower)
                if follower.isNew {
                    try await screen.draw(follower.overview.lines, problem: follower.problem)
                    follower.isNew = false
                }
            }
        } catch {
            await screen.leave()
            throw error
        }
    }

    /// The latest report.
    private struct Follower {
        var overview: StatusOverview
        var problem: String?
        var readAt: BootInstant
        /// True if the report must be shown.
        var isNew = false

        init(_ overview: StatusOverview, at instant: BootInstant) {
            self.overview = overview
            readAt = instant
        }
    }

    private func follow(_ follower: inout Follower) async {
        do throws(GroupReports.Failure) {
            if await reports.isLive, follower.problem == nil,
                follower.readAt.duration(to: clock.now()) < Self.longInterval,
                try await reports.revision() == follower.overview.revision
            {
                return
            }
            follower.overview = try await reports.overview()
            follower.problem = nil
        } catch {
            follower.problem = error.message
        }
        follower.readAt = clock.now()
        follower.isNew = true
    }

    private func pause() async throws {
        let pause = await reports.isLive ? Self.interval : Self.longInterval
        try await clock.sleep(until: clock.now().advanced(by: pause))
    }
}

/// The screen of a terminal, drawn in place.
struct StatusScreen: Sendable {
    private let output: Output
    private let paint: Paint

    init(output: Output, paint: Paint) {
        self.output = output
        self.paint = paint
    }

    /// Switches to the alternate screen, without cursor, line wrap and echo.
    ///
    /// Source: xterm's control sequences, DECSET 1049, 25 and 7.
    func enter() async throws {
        StandardStream.output.setEcho(false)
        try await output.write(Array("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l".utf8))
    }

    /// Restores the screen.
    func leave() async {
        StandardStream.output.setEcho(true)
        // An error is ignored: a terminal that was closed has no screen to restore.
        try? await output.write(Array("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l".utf8))
    }

    /// Draws over the present content in one write: clearing the screen first would flicker.
    func draw(_ lines: [String], problem: String?) async throws {
        let stream = StandardStream.output
        let text = Self.frame(
            lines, problem: problem, columns: stream.columnCount ?? 80, rows: stream.rowCount ?? 24, paint: paint)
        try await output.write(Array(text.utf8))
    }

    /// Returns the characters that draw a report over the previous one. The last row has the number of lines that do
    /// not fit.
    static func frame(_ lines: [String], problem: String?, columns: Int, rows: Int, paint: Paint) -> String {
        func wrapped(_ line: String) -> [String] {
            LineWrap.lines(of: ProgramText.inLocale(ProgramText.oneLine(line)), width: columns)
        }
        let problems = problem.map { wrapped($0) } ?? []
        let all = problems.map { ($0, true) } + lines.flatMap { wrapped($0) }.map { ($0, false) }
        var shown = all.prefix(rows).map { line, isProblem in
            let text = isProblem ? paint.in(.red, line) : Self.painted(line, paint)
            // Clear the rest of the row only if there is one: after a full row the cursor stays on the last character,
            // which would be cleared.
            return text.shown + (line.count < columns ? "\u{1b}[K" : "")
        }
        if all.count > rows {
            let more = ProgramText.inLocale("… (\((all.count - rows + 1).counting("line")) more)")
            shown[rows - 1] = paint.dim(String(more.prefix(columns))).shown + "\u{1b}[K"
        }
        return "\u{1b}[H" + shown.joined(separator: "\r\n") + "\u{1b}[J"
    }

    /// Returns a line with its name in dim colour.
    private static func painted(_ line: String, _ paint: Paint) -> PaintedText {
        guard line.first != " ", let gap = line.firstRange(of: "  ") else { return paint.in(.plain, line) }
        return paint.dim(String(line[..<gap.lowerBound])) + paint.in(.plain, String(line[gap.lowerBound...]))
    }
}

/// The signals that concern the screen and came since they were last read.
private final class ScreenSignals: Sendable {
    enum Request {
        /// Control-Z was typed.
        case stop
        /// The size of the terminal changed, or the process continues after a stop.
        case redraw
    }

    private let request: RequestBox

    init() throws(SystemCallError) {
        let request = RequestBox()
        self.request = request
        try SignalRelay.begin([.windowChange, .terminalStop, .continue]) { signal, _ in
            request.value.withLock { value in
                if signal == .terminalStop { value = .stop } else { value = value ?? .redraw }
            }
        }
    }

    func take() -> Request? {
        request.value.withLock { value in
            defer { value = nil }
            return value
        }
    }

    private final class RequestBox: Sendable {
        let value = Mutex<Request?>(nil)
    }
}

extension JSONValue {
    /// The value without the parts that change only because time passes.
    fileprivate var steady: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.steady))
        case .object(let object): object.steady
        default: self
        }
    }
}

extension JSONObject {
    private static let timely: Set = [
        "since", "begun", "expectedEnd", "latestEnd", "dueInMs", "lapsesInMs", "restartInMs", "budgetLeftMs",
    ]

    fileprivate var steady: JSONValue {
        var rest: JSONObject = [:]
        for (name, value) in members where !Self.timely.contains(name) { rest.append(name, value.steady) }
        return .object(rest)
    }
}
