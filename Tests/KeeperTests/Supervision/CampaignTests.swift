internal import CoreAPI
internal import CoreAPITesting
internal import Lifecycle
internal import Testing

extension KeeperTests {
    @Suite("P6, P7, P8: stories at random")
    struct CampaignTests {
        @Test("Two thousand random histories break no rule")
        func stories() {
            for seed in 0..<UInt64(2000) {
                let problem = SupervisionCampaign.problem(of: .none, seed: seed)
                #expect(problem == nil, "seed \(seed)")
                if problem != nil { return }
            }
        }

        @Test("Each mutant of the machine breaks a rule in some history", arguments: SupervisionMutant.all)
        func mutant(_ mutant: SupervisionMutant) {
            let found = (0..<UInt64(2000)).lazy.compactMap { SupervisionCampaign.problem(of: mutant, seed: $0) }.first
            #expect(found != nil, "nobody has noticed: \(mutant)")
        }
    }
}

/// Runs of a Main, at random from a seed.
enum SupervisionCampaign {
    /// The first problem of a run, or nil.
    static func problem(of mutant: SupervisionMutant, seed: UInt64) -> String? {
        var chance = SeededRandom(seed: seed)
        var options = SupervisionOptions()
        options.restart.limit = SupervisionValidator.restartLimit
        // Short, so that a run reaches the longest delay before the limit of the window.
        options.restart.longestDelay = .seconds(4)
        options.watchdog = .seconds(30)
        mutant.options(&options)
        var machine = SupervisionMachine(options)
        var judge = SupervisionValidator()
        var now = at(0)

        func happen(_ event: SupervisionEvent) {
            let heard = mutant.event(event) ?? .timePassed
            judge.judge(event, mutant.directives(machine.handle(heard, at: now), event), at: now)
            judge.judge(watching: mutant.watches(machine.watchesSockets))
        }

        // A person starts it first, so that no account of a start by itself is needed.
        _ = machine.handle(.begun(isClosed: true), at: now)
        happen(.startWanted(inForeground: true))
        for _ in 0..<80 {
            let pause = [0.01, 0.7, 3, 9, 31, 70][Int(chance.next() % 6)] * Double(1 + chance.next() % 4)
            let next = now.advanced(by: .milliseconds(Int(pause * 1000)))
            while let due = machine.nextTime, due <= next, judge.problems.isEmpty {
                now = max(due, now)
                judge.judgeTime(now)
                happen(.timePassed)
            }
            now = next
            judge.judgeTime(now)
            happen(event(for: judge, &chance))
            if let problem = judge.problems.first { return problem }
        }
        return nil
    }

    /// Something that can happen now.
    private static func event(for judge: SupervisionValidator, _ chance: inout SeededRandom) -> SupervisionEvent {
        let always: [SupervisionEvent] = [.dataCame, .dataCame, .timePassed, .holderWoke]
        let rare: [SupervisionEvent] = [.startWanted(inForeground: true), .stopWanted]
        let ofMain: [SupervisionEvent] = [
            .connected, .fellAsleep, .fellAsleep, .awoke, .saidAlive, .saidAlive, .calls(1), .calls(0), .disconnected,
            .ended(.exited(status: 0)), .ended(.exited(status: 1)), .ended(.killed(signal: 9)),
            .ended(.exited(status: 1)),
            .ended(.killed(signal: 9)), .ended(.exited(status: 1)), .ended(.killed(signal: 9)),
        ]
        if chance.next() % 20 == 0 || judge.isDown { return rare[Int(chance.next() % 2)] }
        let choices = judge.isUp ? always + ofMain : always
        return choices[Int(chance.next() % UInt64(choices.count))]
    }
}
