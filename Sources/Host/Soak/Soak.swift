internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Rounds of pushes in which Executors and Mains are killed and frozen at random moments and at fail points. If an
/// Executor dies, its push is tried again, as by a host.
///
/// Random choices come from a seed. Each round, each mail and the task that kills owners has its own generator, which
/// is split off before the task starts. So a seed always gives the same faults at the same times. Which operations they
/// interrupt depends on the speed of the machine.
final class Soak: Sendable {
    private struct State {
        var random: SeededRandom
        var count = SoakCount()
        var problems: [String] = []
        var living: [Int: any TestProcess] = [:]
        var lastProcess = 0
        var mails = 0
    }

    let driver: any ParticipantDriver
    private let server: DemoServer
    private let killsItself: Bool
    private let state: Mutex<State>

    /// Makes a soak that has not begun.
    ///
    /// - Parameter killsItself: True if the programs can be told to die at a fail point of the file backend.
    init(driver: any ParticipantDriver, server: DemoServer, seed: UInt64, killsItself: Bool) {
        self.driver = driver
        self.server = server
        self.killsItself = killsItself
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    var count: SoakCount { state.withLock { $0.count } }
    /// The problems, for people.
    var problems: [String] { state.withLock { $0.problems } }

    /// Runs rounds until `isEnough` returns true or ``problems`` has an entry.
    ///
    /// Without a problem, delivers one more message. It makes a core fetch the messages that killed cores had stored
    /// but not acknowledged. Then the server's counts must be those of the delivered messages.
    ///
    /// - Parameter progress: Called with the count after each round.
    func run(until isEnough: (SoakCount) -> Bool, progress: (SoakCount) -> Void = { _ in }) async throws {
        while !isEnough(count), problems.isEmpty {
            try Task.checkCancellation()
            try await runRound()
            progress(count)
        }
        guard problems.isEmpty else { return }
        let last = try newMail()
        try await server.deliver(last)
        try await serve(last, drawing: splitChance(), spared: true)
        let found = try await server.counts()
        // A file can be set aside even if its message was stored before.
        if found.waiting != 0 || found.acknowledged + found.setAside != count.messages {
            complain(
                "of \(count.messages) messages, the server has \(found.waiting) left, \(found.acknowledged) acknowledged and "
                    + "\(found.setAside) set aside")
        }
    }

    /// Runs one round: six messages with a push for each, sometimes a Main, and random faults.
    private func runRound() async throws {
        note { $0.rounds += 1 }
        let mails = try (1...6).map { _ in try newMail() }
        var round = splitChance()
        let isMainOn = Int.random(in: 0..<10, using: &round) < 4
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for mail in mails {
                let chance = round.split()
                let delay = round.once(in: 2) ? 0 : Int.random(in: 0..<150, using: &round)
                tasks.addTask {
                    try await self.pause(milliseconds: delay)
                    try await self.server.deliver(mail)
                }
                tasks.addTask { try await self.serve(mail, drawing: chance) }
            }
            let (ofMain, ofHunt) = (round.split(), round.split())
            if isMainOn { tasks.addTask { try await self.switchMainOn(drawing: ofMain) } }
            let works = mails.count * 2 + (isMainOn ? 1 : 0)
            tasks.addTask { await self.hunt(drawing: ofHunt) }
            for _ in 0..<works { try await tasks.next() }
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
    }

    /// Pushes a call-id until an Executor survives and reports that the push was handled.
    private func serve(_ mail: DemoMail, drawing chance: SeededRandom, spared: Bool = false) async throws {
        var chance = chance
        var (wasShown, wasSetAside) = (false, false)
        var attempts: [SoakAttempt] = []
        for attempt in 1... {
            let isSpared = attempt > 4 || spared || wasSetAside
            let fault = isSpared ? .spared : SoakFault.drawn(from: &chance, killsItself: killsItself)
            note { $0.pushes += 1 }
            let result = try await driver.push(
                mail.callID, as: "push \(mail.number)", failPoint: fault.failPoint,
                during: { await self.inject(fault, into: $0) })
            attempts.append(SoakAttempt(fault: fault, result: result))
            if let complaint = result.complaint { return complain("\(mail.callID) \(complaint)") }
            if let line = result.line, line.event == "message", line.text != mail.text {
                return complain("\(mail.callID) got the text of another: \(line.text ?? "none")")
            }
            if result.wasKilled {
                noteKill(of: fault)
                if result.line?.event == "message" { wasShown = true }
                continue
            }
            switch (result.end, result.line?.event) {
            case (.exited(0), "message"):
                note { $0.delivered += 1 }
                return try await pushAgain(mail, drawing: chance)
            case (.exited(0), "nothing") where wasShown:
                // The killed Executor had shown and acknowledged the message.
                return note { $0.delivered += 1 }
            case (.exited(0), "nothing"):
                // By chance, three processes were killed while they read this message, so it was set aside (P11). An
                // operator would give it back.
                if !wasSetAside, try await server.retry(mail, in: driver.group) {
                    wasSetAside = true
                    note { $0.setAside += 1 }
                    continue
                }
                let evidence = await SoakEvidence(of: mail, attempts, in: driver.group)
                return complain("\(mail.callID) has nothing to show, and no Executor has shown it\n\(evidence)")
            case (let end, let event):
                let evidence = await SoakEvidence(of: mail, attempts, in: driver.group)
                return complain(
                    "\(mail.callID) ended with \(event ?? "nothing printed"), \(end.sentence)\n\(evidence)")
            }
        }
    }

    /// Sends some pushes twice: a message that was shown must not be shown again.
    private func pushAgain(_ mail: DemoMail, drawing chance: SeededRandom) async throws {
        var chance = chance
        guard chance.once(in: 6) else { return }
        note { $0.pushes += 1 }
        let result = try await driver.push(
            mail.callID, as: "push \(mail.number) again", during: { await self.inject(.spared, into: $0) })
        if let complaint = result.complaint { complain("\(mail.callID) \(complaint)") }
        if result.wasKilled { noteKill(of: .spared) }
        if result.line?.event == "message" { note { $0.duplicates += 1 } }
    }

    private func switchMainOn(drawing chance: SeededRandom) async throws {
        var chance = chance
        try await pause(milliseconds: Int.random(in: 0..<300, using: &chance))
        note { $0.mains += 1 }
        let duration = Int.random(in: 100..<2000, using: &chance)
        let result = try await driver.withMain(as: "main") { process in
            let number = self.add(process)
            try? await self.pause(milliseconds: duration)
            self.remove(number)
            process.thaw()
        }
        if let problem = result.problem { complain("Main ended with \(problem.sentence)") }
    }

    // MARK: - Faults

    private func inject(_ fault: SoakFault, into process: any TestProcess) async {
        let number = add(process)
        defer { remove(number) }
        do {
            switch fault {
            case .killed(let milliseconds):
                try await pause(milliseconds: milliseconds)
                process.kill()
            case .frozen(let before, let duration):
                try await pause(milliseconds: before)
                await freeze(process, for: duration)
            case .spared, .dies, .diesBeforeAcknowledging, .diesReading: break
            }
            // The process is not killed. The wait is cancelled when it has ended.
            try await Task.sleep(for: .seconds(3600))
        } catch {
            return
        }
    }

    /// Kills and freezes owners until it is cancelled. An owner is stopped first, so that it still owns when it is
    /// killed.
    private func hunt(drawing chance: SeededRandom) async {
        var chance = chance
        do {
            while true {
                try await pause(milliseconds: Int.random(in: 20..<150, using: &chance))
                guard let owner = try await GroupOwner.current(in: driver.group), let process = holder(of: owner) else {
                    continue
                }
                if chance.once(in: 4) {
                    await freeze(process, for: Int.random(in: 50..<1500, using: &chance))
                    continue
                }
                await process.freeze()
                // No process stays frozen, even if the read fails or the hunt ends.
                let now = try? await GroupOwner.current(in: driver.group)
                if now?.epoch == owner.epoch, holder(of: owner) != nil {
                    process.kill()
                    note { $0.owners += 1 }
                } else {
                    process.thaw()
                }
            }
        } catch is CancellationError {
            return
        } catch {
            if !Task.isCancelled { complain("the owner cannot be looked up: \(error)") }
        }
    }

    /// Freezes a participant for a while, also when the task is cancelled meanwhile: no process is left frozen.
    private func freeze(_ process: any TestProcess, for milliseconds: Int) async {
        await process.freeze()
        note { $0.freezes += 1 }
        try? await pause(milliseconds: milliseconds)
        process.thaw()
    }

    private func noteKill(of fault: SoakFault) {
        note { count in
            count.kills += 1
            switch fault {
            case .dies: count.writers += 1
            case .diesBeforeAcknowledging: count.cores += 1
            case .spared, .killed, .frozen, .diesReading: break
            }
        }
    }

    // MARK: - State

    private func holder(of owner: GroupOwner) -> (any TestProcess)? {
        state.withLock { $0.living.values.first { $0.isHolder(owner) } }
    }

    private func add(_ process: any TestProcess) -> Int {
        state.withLock { state in
            state.lastProcess += 1
            state.living[state.lastProcess] = process
            return state.lastProcess
        }
    }

    private func remove(_ number: Int) {
        state.withLock { $0.living[number] = nil }
    }

    private func newMail() throws -> DemoMail {
        let number = state.withLock { state in
            state.count.messages += 1
            state.mails += 1
            return state.mails
        }
        guard let mail = DemoMail(number) else {
            throw CommandFailure(.unavailable, "message \(number) has no call-id")
        }
        return mail
    }

    private func note(_ change: (inout SoakCount) -> Void) {
        state.withLock { change(&$0.count) }
    }

    private func complain(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    /// Returns a generator for a part of the run.
    private func splitChance() -> SeededRandom {
        state.withLock { $0.random.split() }
    }

    /// Waits for a random time, to vary the moment of a kill.
    private func pause(milliseconds: Int) async throws {
        try await ContinuousClock().sleep(for: .milliseconds(milliseconds))
    }
}
