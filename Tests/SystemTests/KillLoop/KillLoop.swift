internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Synchronization
internal import TestSupport

/// Pushes, messages and Mains, with processes killed all the while at random moments and at chosen places, until enough
/// of each kind have died. A push whose Executor dies is pushed again, as a host does.
final class KillLoop: Sendable {
    private struct State {
        var random: SplitMix64
        var count = KillCount()
        var problems: [String] = []
        var living: [Int32: ChildProcess] = [:]
    }

    private let post: Post
    private let group: FileGroup
    private let state: Mutex<State>

    init(post: Post, group: FileGroup, seed: Seed) {
        self.post = post
        self.group = group
        state = Mutex(State(random: SplitMix64(seed: seed.rawValue)))
    }

    var count: KillCount { state.withLock { $0.count } }
    /// What went wrong with a message, for people.
    var problems: [String] { state.withLock { $0.problems } }

    /// Plays rounds until the counts are reached.
    func run() async throws {
        while !count.isEnough, problems.isEmpty { try await playRound() }
    }

    /// Six messages, a push for each, sometimes a Main, and whatever befalls them.
    private func playRound() async throws {
        let round = state.withLock { state in
            state.count.rounds += 1
            state.count.messages += 6
            return state.count.rounds
        }
        let callIDs = (1...6).map { "round-\(round)-message-\($0)" }
        let isMainOn = draw(0..<10) < 4
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for callID in callIDs {
                let delay = self.draw(0..<2) == 0 ? 0 : self.draw(0..<150)
                tasks.addTask {
                    try await self.pause(milliseconds: delay)
                    try self.post.deliver(callID)
                }
                tasks.addTask { try await self.serve(callID) }
            }
            let pushes = callIDs.count * 2
            let main = isMainOn ? try self.start { try self.post.startMain() } : nil
            let hunter = Task { try await self.hunt() }
            for _ in 0..<pushes { try await tasks.next() }
            hunter.cancel()
            _ = try? await hunter.value
            if let main {
                main.signal(SIGTERM)
                self.note(await main.end(), of: main)
            }
        }
    }

    /// Pushes a call-id until an Executor lives to say that it has been served.
    private func serve(_ callID: String) async throws {
        var wasShown = false
        for attempt in 1... {
            let fate = attempt <= 4 ? state.withLock { Fate.drawn(from: &$0.random) } : .spared
            let process = try start { try post.push(callID, failPoint: fate.failPoint) }
            if case .killed(let milliseconds) = fate {
                try await pause(milliseconds: milliseconds)
                process.signal(SIGKILL)
            }
            let end = await process.end()
            note(end, of: process, fate: fate)
            let report = post.report(of: process)
            if let report, report.event == "message", report.text != post.text(of: callID) {
                return complain("\(callID) got the text of another: \(report.text ?? "none")")
            }
            switch (end, report?.event) {
            case (.exited(0), "message"):
                return
            case (.exited(0), "nothing"):
                // The one that was killed had shown it and acknowledged it.
                if !wasShown { complain("\(callID) was acknowledged by nobody who showed it") }
                return
            case (.killed, let event):
                if event == "message" { wasShown = true }
            default:
                return complain("\(callID) ended with \(end): \(process.lines)")
            }
        }
    }

    /// Kills owners until it is cancelled. An owner is stopped first, so that it owns for certain when it is killed.
    private func hunt() async throws {
        while !Task.isCancelled {
            try await pause(milliseconds: draw(20..<150))
            guard let owner = try await GroupOwner.current(in: group),
                let process = state.withLock({ $0.living[owner.process.pid] })
            else { continue }
            process.signal(SIGSTOP)
            try await eventually("process \(process.pid) stops or ends") { process.isStopped || process.ended != nil }
            let stillOwns = try await GroupOwner.current(in: group)?.epoch == owner.epoch && process.ended == nil
            if stillOwns {
                process.signal(SIGKILL)
                state.withLock { $0.count.owners += 1 }
            } else {
                process.signal(SIGCONT)
            }
        }
    }

    private func start(_ make: () throws -> ChildProcess) throws -> ChildProcess {
        let process = try make()
        state.withLock { $0.living[process.pid] = process }
        return process
    }

    private func note(_ end: ChildProcess.End, of process: ChildProcess, fate: Fate = .spared) {
        state.withLock { state in
            state.living[process.pid] = nil
            guard end == .killed(by: SIGKILL) else { return }
            state.count.kills += 1
        }
        guard end == .killed(by: SIGKILL), !process.wasSentKill else { return }
        state.withLock { state in
            switch fate {
            case .dies: state.count.writers += 1
            case .diesBeforeAcknowledging: state.count.cores += 1
            case .spared, .killed: break
            }
        }
    }

    private func complain(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    private func draw(_ range: Range<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.random) }
    }

    /// Lets a random time pass: the moment of a kill is what the loop is about.
    private func pause(milliseconds: Int) async throws {
        try await ContinuousClock().sleep(for: .milliseconds(milliseconds))
    }
}
