import CoreAPI
import StoreEngine
import Testing

@testable import Coordination

/// A participant that waits behind an owner for long.
extension OwnershipMachineTests {
    /// A machine with the present entries, to which its own commits are applied.
    private struct Run {
        var machine: OwnershipMachine
        var entries: [Key: Entry]
        var revision: UInt64
        /// The commits, and when they were made.
        var commits: [(at: Duration, transition: Transition)] = []
        /// The longest time for which the machine asked not to be stepped.
        var longestPause = Duration.zero

        /// Steps every millisecond. Each challenge is answered until `freezes`.
        mutating func step(for duration: Duration, freezes: Duration, in tests: OwnershipMachineTests) {
            let claim = Revision(rawValue: 20)
            var passed = Duration.zero
            while passed <= duration {
                apply(in: tests)
                while let directive = machine.step(at: tests.start.advanced(by: passed)) {
                    switch directive {
                    case .examine(_, let claim): machine.examined(claim, isStopped: true)
                    case .commit(let transition):
                        commits.append((passed, transition))
                        if transition.acquires { return }
                        revision += 1
                        for case .put(let key, let bytes, _) in transition.transaction.operations {
                            entries[key] = Entry(
                                key: key, value: bytes, revision: Revision(rawValue: revision),
                                creationRevision: entries[key]?.creationRevision ?? Revision(rawValue: revision),
                                lifetime: .session, origin: tests.session)
                        }
                        if passed < freezes, let challenge = entries[OwnershipKey.challenge] {
                            revision += 1
                            let answer = AnswerRecord(claim: claim, challenge: challenge.revision)
                            entries[OwnershipKey.answer] = tests.entry(
                                OwnershipKey.answer, answer, by: tests.other, claim: revision)
                        }
                        apply(in: tests)
                    default: break
                    }
                }
                let now = tests.start.advanced(by: passed)
                longestPause = max(longestPause, now.duration(to: machine.nextStep))
                passed += .milliseconds(1)
            }
        }

        private mutating func apply(in tests: OwnershipMachineTests) {
            machine.view.apply(tests.view(revision, Array(entries.values)), at: tests.start)
        }

        func has(_ key: Key) -> [Duration] {
            commits.filter {
                $0.transition.transaction.operations.contains {
                    if case .put(key, _, _) = $0 { true } else { false }
                }
            }
            .map(\.at)
        }
    }

    private func run(_ machine: OwnershipMachine, behind entries: [Entry]) -> Run {
        Run(
            machine: machine, entries: Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) }), revision: 30)
    }

    @Test(
        "C6: one that waits for its turn is never refused, and takes over when the owner answers no more",
        arguments: [SessionRole.main, .executor])
    func waitsItsTurn(role: SessionRole) throws {
        var machine = machine(role)
        machine.waitsItsTurn = true
        var run = run(machine, behind: [owner(.main, by: other, claim: 20)])
        run.step(for: .seconds(60), freezes: .seconds(50), in: self)

        #expect(run.machine.refusal == nil)
        // This participant may wait for weeks. So it does not wake four times a second, as one does that waits for its
        // turn.
        #expect(run.longestPause == .seconds(1))
        let end = try #require(run.commits.last)
        #expect(end.transition.acquires)
        #expect(end.at > .seconds(50) && end.at <= .seconds(50) + .milliseconds(2650), "\(end.at)")
        // One challenge in 2 s, and the last one again.
        #expect((23...27).contains(run.has(OwnershipKey.challenge).count), "\(run.has(OwnershipKey.challenge))")
    }

    @Test("C26: a Main that waits for its turn does not wake a resting Main")
    func leavesARestAlone() {
        var machine = machine(.main)
        machine.waitsItsTurn = true
        let (main, claim) = (SessionID(rawValue: 30), Revision(rawValue: 20))
        var run = run(
            machine,
            behind: [
                owner(.main, by: other, claim: 20),
                entry(
                    OwnershipKey.holder, HolderRecord(process: process(2), processNamespace: 0), by: other, claim: 10),
                entry(
                    OwnershipKey.rest, RestRecord(epoch: claim, name: "main", process: process(3)), by: main, claim: 25),
            ])
        run.step(for: .seconds(30), freezes: .seconds(60), in: self)
        #expect(run.machine.view.sleeper?.session == main)
        #expect(run.has(OwnershipKey.wake).isEmpty && !run.has(OwnershipKey.challenge).isEmpty)
        #expect(run.machine.refusal == nil)
    }

    @Test("C6, C26: what is told of a challenge and of a take-over says how long the owner really had")
    func tellsHowLongItWaited() throws {
        let (main, claim) = (SessionID(rawValue: 30), Revision(rawValue: 20))
        let resting = [
            entry(OwnershipKey.holder, HolderRecord(process: process(2), processNamespace: 0), by: other, claim: 10),
            entry(OwnershipKey.rest, RestRecord(epoch: claim, name: "main", process: process(3)), by: main, claim: 25),
        ]
        for (rest, expected) in [([], Duration.milliseconds(500)), (resting, .milliseconds(2500))] {
            var run = run(machine(.executor), behind: [owner(.main, by: other, claim: 20)] + rest)
            run.step(for: .seconds(10), freezes: .zero, in: self)
            let end = try #require(run.commits.last)
            let since = try #require(run.has(OwnershipKey.challenge).first)
            #expect(end.transition.timelineEvents.map(\.kind) == [.challenged, .tookOver])
            let waited = try #require(end.transition.timelineEvents.first?.bound)
            #expect(waited == end.at - since && waited >= expected && waited < expected + .milliseconds(150))
            #expect(end.transition.timelineEvents.last?.reason.contains("was not answered within \(waited);") == true)
            let told = run.commits.flatMap { $0.transition.timelineEvents.map(\.kind) }
            #expect(told == (rest.isEmpty ? [] : [.woken]) + [.challenged, .tookOver])
        }
    }
}
