internal import CoreAPI
internal import Lifecycle
internal import Testing

extension KeeperTests {
    @Suite("P8: the restart of a Main")
    struct RestartTests {
        private var machine: SupervisionMachine

        init() {
            machine = SupervisionMachine(SupervisionOptions())
        }

        /// Ends Main with a failure, and returns the time until Main is started again.
        private mutating func fail(at seconds: Double) -> Duration? {
            let now = at(seconds)
            if machine.handle(.ended(.exited(status: 1)), at: now).contains(.start(inBackground: true)) { return .zero }
            return machine.nextTime.map { now.duration(to: $0) }
        }

        @Test("After a boot Main is started at once, told that it runs in the background")
        mutating func boot() {
            #expect(
                machine.handle(.begun(isClosed: false), at: at(0))
                    == [.remember(isClosed: false), .start(inBackground: true)])
        }

        @Test(
            "A failure starts it again at once, in the background",
            arguments: [
                MainProcessEnd.exited(status: 1), .exited(status: 255), .killed(signal: 9), .killed(signal: 15),
                .unseen,
            ])
        mutating func failure(end: MainProcessEnd) {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(
                machine.handle(.ended(end), at: at(100)) == [.remember(isClosed: false), .start(inBackground: true)])
        }

        @Test("Exit 0 is its user's wish: it stays down, is remembered so, and its sockets are let go")
        mutating func closed() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(
                machine.handle(.ended(.exited(status: 0)), at: at(1)) == [.remember(isClosed: true), .letSocketsGo])
            #expect(machine.nextTime == nil)
            #expect(machine.handle(.dataCame, at: at(2)) == [])
            #expect(machine.handle(.timePassed, at: at(100_000)) == [])
        }

        @Test("A Main that was closed stays down when a keeper begins, until it is wanted")
        mutating func closedBefore() {
            #expect(machine.handle(.begun(isClosed: true), at: at(0)) == [])
            #expect(machine.nextTime == nil)
            #expect(
                machine.handle(.startWanted(inForeground: true), at: at(5))
                    == [.remember(isClosed: false), .start(inBackground: false)])
        }

        @Test("Failures in a row are told until Main has run well for a while")
        mutating func failuresTold() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(fail(at: 1) == .zero)
            #expect(machine.failures(at: at(1)) == 1 && machine.failures(at: at(60.9)) == 1)
            #expect(machine.failures(at: at(61)) == 0)
            // The next failure of this Main counts as its first again.
            #expect(fail(at: 62) == .zero)
            #expect(machine.failures(at: at(62)) == 1)
        }

        @Test("Further failures wait 1 s, then twice as long each time, up to the longest delay")
        mutating func backOff() {
            machine.options.restart.limit = 100
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            var now = 1.0
            var delays: [Duration] = []
            for _ in 0..<9 {
                let delay = fail(at: now)
                delays.append(delay ?? .seconds(-1))
                now += Double(delay?.components.seconds ?? 0)
                _ = machine.handle(.timePassed, at: at(now))
                now += 1
            }
            #expect(delays == [0, 1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        }

        @Test("It is started at the instant and not before")
        mutating func exactly() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            _ = fail(at: 1)
            _ = fail(at: 2)
            #expect(machine.handle(.timePassed, at: at(2.999_999)) == [])
            #expect(
                machine.handle(.timePassed, at: at(3)) == [.remember(isClosed: false), .start(inBackground: true)])
        }

        @Test("A Main that ran for a minute was well: its next failure is the first")
        mutating func steady() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(fail(at: 1) == .zero)
            #expect(fail(at: 60.9) == .seconds(1))
            _ = machine.handle(.timePassed, at: at(61.9))
            #expect(fail(at: 121.9) == .zero)
        }

        @Test("No window holds more restarts than the limit; the next one waits until the oldest has left it")
        mutating func limit() {
            machine.options.restart.limit = 3
            machine.options.restart.window = .seconds(100)
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(fail(at: 10) == .zero)
            #expect(fail(at: 11) == .seconds(1))
            _ = machine.handle(.timePassed, at: at(12))
            #expect(fail(at: 13) == .seconds(2))
            _ = machine.handle(.timePassed, at: at(15))
            #expect(fail(at: 16) == .seconds(94))
            #expect(machine.handle(.dataCame, at: at(17)) == [])
            #expect(machine.nextTime == at(110))
        }

        @Test("Data cuts the delay to its first step, not to nothing")
        mutating func hastened() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            for (end, start) in [(1.0, 1.0), (2, 3), (4, 6)] {
                _ = fail(at: end)
                _ = machine.handle(.timePassed, at: at(start))
            }
            #expect(fail(at: 7) == .seconds(4))
            #expect(machine.handle(.dataCame, at: at(7.5)) == [])
            #expect(machine.nextTime == at(8))
        }

        @Test("A start by the user happens at once and resets the count of failures")
        mutating func wanted() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            for second in 1...4 {
                _ = fail(at: Double(second * 10))
                _ = machine.handle(.timePassed, at: at(Double(second * 10 + 9)))
            }
            _ = fail(at: 60)
            #expect(
                machine.handle(.startWanted(inForeground: false), at: at(60.1)).contains(.start(inBackground: true)))
            #expect(fail(at: 61) == .zero)
        }

        @Test("A Main that cannot be started is tried again like one that fails")
        mutating func notStarted() {
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            #expect(machine.handle(.ended(.notStarted), at: at(0)).contains(.start(inBackground: true)))
            #expect(machine.handle(.ended(.notStarted), at: at(0)) == [])
            #expect(machine.nextTime == at(1))
        }

        @Test("A Main with an unseen end was closed by its user if it said so before")
        mutating func leaving() {
            _ = machine.handle(.adopted, at: at(0))
            _ = machine.handle(.connected, at: at(1))
            _ = machine.handle(.saidLeaving, at: at(2))
            #expect(machine.handle(.ended(.unseen), at: at(3)) == [.remember(isClosed: true), .letSocketsGo])
        }
    }
}
