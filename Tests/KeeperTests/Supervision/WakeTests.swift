internal import CoreAPI
internal import Lifecycle
internal import Testing

extension KeeperTests {
    @Suite("P6, P7: wakes, budgets and the watchdog")
    struct WakeTests {
        private var machine: SupervisionMachine

        init() {
            machine = SupervisionMachine(SupervisionOptions())
            _ = machine.handle(.begun(isClosed: false), at: at(0))
            _ = machine.handle(.connected, at: at(1))
        }

        /// Main falls asleep and is woken at 10 s.
        private mutating func wake() {
            _ = machine.handle(.fellAsleep, at: at(5))
            #expect(machine.handle(.dataCame, at: at(10)) == [.wake(budget: .seconds(10))])
        }

        @Test("Sockets are watched while Main sleeps or is to be started, and not while it is awake")
        mutating func watched() {
            #expect(!machine.watchesSockets)
            _ = machine.handle(.fellAsleep, at: at(5))
            #expect(machine.watchesSockets)
            _ = machine.handle(.dataCame, at: at(6))
            #expect(!machine.watchesSockets)
            _ = machine.handle(.ended(.killed(signal: 9)), at: at(7))
            _ = machine.handle(.ended(.killed(signal: 9)), at: at(7))
            #expect(machine.watchesSockets)
            _ = machine.handle(.timePassed, at: at(8))
            #expect(!machine.watchesSockets)
        }

        @Test("Data is for a Main that sleeps; one that is awake reads it itself")
        mutating func awake() {
            #expect(machine.handle(.dataCame, at: at(2)) == [])
        }

        @Test("A wake tells the budget, warns at 8 s, and at 10 s stops what still runs")
        mutating func budget() {
            wake()
            #expect(machine.nextTime == at(18))
            #expect(machine.handle(.timePassed, at: at(17.999)) == [])
            #expect(machine.handle(.timePassed, at: at(18)) == [.warn(left: .seconds(2))])
            #expect(machine.handle(.timePassed, at: at(19.999)) == [])
            #expect(machine.handle(.timePassed, at: at(20)) == [.kill(.budget)])
            #expect(machine.handle(.timePassed, at: at(21)) == [])
        }

        @Test(
            "Sleeping again ends the budget, and so does being in use",
            arguments: [SupervisionEvent.fellAsleep, .awoke])
        mutating func used(event: SupervisionEvent) {
            wake()
            _ = machine.handle(event, at: at(20))
            #expect(machine.handle(.timePassed, at: at(1000)) == [])
        }

        @Test("An active call is exempt; after it the budget begins anew")
        mutating func call() {
            wake()
            #expect(machine.handle(.calls(1), at: at(12)) == [])
            #expect(machine.handle(.timePassed, at: at(3600)) == [])
            #expect(machine.handle(.calls(0), at: at(3600)) == [])
            #expect(machine.handle(.timePassed, at: at(3609)) == [.warn(left: .seconds(1))])
            #expect(machine.handle(.timePassed, at: at(3610)) == [.kill(.budget)])
        }

        @Test("A lost connection neither ends a budget nor a call's exemption")
        mutating func disconnected() {
            wake()
            _ = machine.handle(.disconnected, at: at(11))
            _ = machine.handle(.connected, at: at(12))
            #expect(machine.handle(.timePassed, at: at(20)) == [.kill(.budget)])

            var other = Self().machine
            _ = other.handle(.fellAsleep, at: at(5))
            _ = other.handle(.dataCame, at: at(10))
            _ = other.handle(.calls(2), at: at(11))
            _ = other.handle(.disconnected, at: at(12))
            #expect(other.handle(.timePassed, at: at(100)) == [])
        }

        @Test("A Main that is started for data has the budget from its first word on")
        mutating func startedForData() {
            for second in [1.0, 2] { _ = machine.handle(.ended(.exited(status: 1)), at: at(second)) }
            _ = machine.handle(.dataCame, at: at(2.5))
            #expect(machine.handle(.timePassed, at: at(3)).contains(.start(inBackground: true)))
            _ = machine.handle(.connected, at: at(5))
            #expect(machine.handle(.timePassed, at: at(15)) == [.kill(.budget)])
        }

        @Test("P6: a wake by the holder has the same budget, and its repetition does not begin it anew")
        mutating func wokenByHolder() {
            machine.options.watchdog = .seconds(30)
            _ = machine.handle(.fellAsleep, at: at(5))
            #expect(machine.handle(.holderWoke, at: at(10)) == [.tellBudget(.seconds(10))])
            #expect(!machine.watchesSockets)
            #expect(machine.handle(.holderWoke, at: at(11)) == [])
            #expect(machine.handle(.timePassed, at: at(18)) == [.warn(left: .seconds(2))])
            #expect(machine.handle(.holderWoke, at: at(19)) == [])
            #expect(machine.handle(.timePassed, at: at(20)) == [.kill(.budget)])

            var other = Self().machine
            _ = other.handle(.fellAsleep, at: at(5))
            _ = other.handle(.holderWoke, at: at(10))
            _ = other.handle(.fellAsleep, at: at(12))
            #expect(other.watchesSockets && other.nextTime == nil)
            #expect(other.handle(.dataCame, at: at(13)) == [.wake(budget: .seconds(10))])
        }

        @Test("C26, P6: a wake by the holder between Main's rest and its sleep wakes Main as soon as it sleeps")
        mutating func wokenBeforeItsSleep() {
            machine.options.watchdog = .seconds(30)
            _ = machine.handle(.saidAlive, at: at(1))
            #expect(machine.handle(.holderWoke, at: at(2)) == [], "it does not sleep: no budget")
            #expect(machine.nextTime == at(31), "the wake is no sign of life")
            #expect(machine.handle(.fellAsleep, at: at(3)) == [.tellBudget(.seconds(10))])
            #expect(!machine.watchesSockets)
            #expect(machine.handle(.timePassed, at: at(11)) == [.warn(left: .seconds(2))])
            // During the budget of one wake Main rests again, and its holder wakes it once more.
            #expect(machine.handle(.holderWoke, at: at(12)) == [])
            #expect(machine.handle(.fellAsleep, at: at(12.5)) == [.tellBudget(.seconds(10))])
            #expect(machine.handle(.fellAsleep, at: at(13)) == [], "once for each wake")
            #expect(machine.watchesSockets)

            var inUse = Self().machine
            _ = inUse.handle(.holderWoke, at: at(2))
            _ = inUse.handle(.awoke, at: at(3))
            #expect(inUse.handle(.fellAsleep, at: at(4)) == [], "it was in use since")

            var late = Self().machine
            _ = late.handle(.holderWoke, at: at(2))
            #expect(late.handle(.fellAsleep, at: at(12)) == [], "that rest is over")

            var next = Self().machine
            _ = next.handle(.holderWoke, at: at(2))
            _ = next.handle(.ended(.exited(status: 1)), at: at(3))
            _ = next.handle(.timePassed, at: next.nextTime ?? at(3))
            _ = next.handle(.connected, at: at(4))
            #expect(next.handle(.fellAsleep, at: at(5)) == [], "another Main was meant")
        }

        @Test("P6: from a wake by the holder on the watchdog holds, and is not fed by the wake's repetition")
        mutating func watchdogAfterHolder() {
            machine.options.watchdog = .seconds(5)
            _ = machine.handle(.fellAsleep, at: at(5))
            #expect(machine.handle(.timePassed, at: at(100)) == [])
            _ = machine.handle(.holderWoke, at: at(100))
            _ = machine.handle(.holderWoke, at: at(101))
            #expect(machine.handle(.timePassed, at: at(104.999)) == [])
            #expect(machine.handle(.timePassed, at: at(105)) == [.kill(.watchdog)])
        }

        @Test("P8: exit 0 at rest is its user's wish; after any other end data is a reason to start it sooner")
        mutating func endsAtRest() {
            for isWoken in [false, true] {
                var closed = Self().machine
                _ = closed.handle(.fellAsleep, at: at(5))
                if isWoken { _ = closed.handle(.holderWoke, at: at(6)) }
                #expect(
                    closed.handle(.ended(.exited(status: 0)), at: at(7)) == [.remember(isClosed: true), .letSocketsGo])
                #expect(closed.handle(.dataCame, at: at(8)) == [] && closed.nextTime == nil)

                for end in [MainProcessEnd.exited(status: 1), .killed(signal: 9), .unseen] {
                    var failed = Self().machine
                    for second in [2.0, 3, 5] {
                        _ = failed.handle(.ended(.exited(status: 1)), at: at(second))
                        _ = failed.handle(.timePassed, at: failed.nextTime ?? at(second))
                        _ = failed.handle(.connected, at: failed.nextTime ?? at(second))
                    }
                    _ = failed.handle(.fellAsleep, at: at(8))
                    if isWoken { _ = failed.handle(.holderWoke, at: at(9)) }
                    #expect(failed.handle(.ended(end), at: at(10)) == [], "the sockets are kept")
                    #expect(failed.watchesSockets && failed.nextTime == at(14))
                    _ = failed.handle(.holderWoke, at: at(10.5))
                    #expect(failed.nextTime == at(14), "no Main is there that it could mean")
                    _ = failed.handle(.dataCame, at: at(10.5))
                    #expect(failed.nextTime == at(11))
                }
            }
        }

        @Test("A killed Main is started again as one that failed")
        mutating func killed() {
            wake()
            #expect(machine.handle(.timePassed, at: at(20)) == [.kill(.budget)])
            #expect(machine.handle(.ended(.exited(status: 0)), at: at(20.1)).contains(.start(inBackground: true)))
        }

        @Test("The watchdog kills a Main that says nothing for so long, not one that speaks, sleeps or has a call")
        mutating func watchdog() {
            machine.options.watchdog = .seconds(5)
            _ = machine.handle(.saidAlive, at: at(2))
            #expect(machine.handle(.timePassed, at: at(6.999)) == [])
            _ = machine.handle(.saidAlive, at: at(6.999))
            #expect(machine.handle(.timePassed, at: at(11)) == [])
            _ = machine.handle(.calls(1), at: at(11))
            #expect(machine.handle(.timePassed, at: at(500)) == [])
            _ = machine.handle(.calls(0), at: at(500))
            #expect(machine.handle(.timePassed, at: at(504)) == [])
            _ = machine.handle(.fellAsleep, at: at(504))
            #expect(machine.handle(.timePassed, at: at(1000)) == [])
            _ = machine.handle(.awoke, at: at(1000))
            #expect(machine.nextTime == at(1005))
            #expect(machine.handle(.timePassed, at: at(1005)) == [.kill(.watchdog)])
        }

        @Test("A stop asks, then kills, and Main stays down; a start meanwhile comes after the end")
        mutating func stop() {
            #expect(machine.handle(.stopWanted, at: at(10)) == [.remember(isClosed: true), .terminate])
            #expect(machine.handle(.timePassed, at: at(14.999)) == [])
            #expect(machine.handle(.timePassed, at: at(15)) == [.kill(.stop)])
            #expect(machine.handle(.ended(.killed(signal: 9)), at: at(15.1)) == [.letSocketsGo])
            #expect(machine.nextTime == nil)

            _ = machine.handle(.startWanted(inForeground: true), at: at(20))
            _ = machine.handle(.stopWanted, at: at(21))
            #expect(machine.handle(.startWanted(inForeground: true), at: at(22)) == [])
            #expect(
                machine.handle(.ended(.exited(status: 0)), at: at(23))
                    == [.remember(isClosed: false), .start(inBackground: false)])
        }

        @Test("The end of the keeper takes Main with it, and remembers nothing of it")
        mutating func quit() {
            #expect(machine.handle(.quitWanted, at: at(10)) == [.terminate])
            #expect(machine.handle(.ended(.killed(signal: 15)), at: at(11)) == [.finish])
        }
    }
}
