internal import CoreAPI
internal import CoreAPITesting
internal import NetworkMonitor
internal import Platform
internal import TestSupport
internal import Testing

@Suite("Following the kernel's reports")
struct TrackerTests {
    private var tracker = NetworkTracker()
    private let wan = NetworkChange.link(NetworkLink(index: 7, name: "wan"))
    private let own = NetworkChange.address(LinkAddress(link: 7, address: .own))
    private let route = NetworkChange.route(DefaultRoute(family: .version4, link: 7))

    private func at(_ milliseconds: UInt64) -> BootInstant {
        BootInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// Answers a request for all, with this first number.
    private mutating func answer(
        _ first: UInt32, links: [NetworkChange] = [], addresses: [NetworkChange] = [], routes: [NetworkChange] = [],
        at time: BootInstant
    ) -> [NetworkTracker.Directive] {
        var directives: [NetworkTracker.Directive] = []
        for (number, changes) in zip(first..., [links, addresses, routes]) {
            directives += tracker.receive(RouteMessage(.changes(changes), answers: number), at: time)
            directives += tracker.receive(RouteMessage(.ended, answers: number), at: time)
        }
        return directives
    }

    @Test("It asks for links, addresses and routes, one after another, and tells the state at once")
    mutating func start() {
        #expect(tracker.start(at: at(0)) == [.ask(.links, sequence: 1)])
        let directives = answer(1, links: [wan], addresses: [own], routes: [route], at: at(1))
        guard directives.count == 3, case .tell(let state) = directives[2] else {
            Issue.record("\(directives)")
            return
        }
        #expect(directives.prefix(2) == [.ask(.addresses, sequence: 2), .ask(.routes, sequence: 3)])
        #expect(state.isConnected)
        _ = tracker.timePassed(at: at(101))
        #expect(tracker.deadline == nil, "nothing runs while nothing changes")
    }

    @Test("A report that comes during an answer counts")
    mutating func meanwhile() {
        _ = tracker.start(at: at(0))
        _ = tracker.receive(RouteMessage(.changes([route])), at: at(1))
        let last = answer(1, links: [wan], addresses: [own], at: at(2)).last
        guard case .tell(let state)? = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(state.isConnected)
    }

    @Test(
        "After a report that may be incomplete the tracker asks for the whole state, after a pause; the answer counts")
    mutating func asksAgain() {
        _ = tracker.start(at: at(0))
        _ = answer(1, links: [wan], addresses: [own], routes: [route], at: at(0))
        let gone = RouteMessage(.changes([.addressGone(LinkAddress(link: 7, address: .own))]))
        #expect(tracker.receive(gone, at: at(10)) == [])
        #expect(tracker.deadline == at(100))
        #expect(tracker.timePassed(at: at(99)) == [])
        #expect(tracker.timePassed(at: at(100)) == [.ask(.links, sequence: 4)])
        // The address is back, and the route is not.
        _ = tracker.receive(RouteMessage(.changes([own])), at: at(110))
        _ = answer(4, links: [wan], addresses: [own], at: at(120))
        #expect(tracker.timePassed(at: at(400)) == [.tell(NetworkState(.defaultRoute))])
    }

    @Test("After lost reports it asks for all again", arguments: [true, false])
    mutating func losses(overflow: Bool) {
        _ = tracker.start(at: at(0))
        _ = answer(1, links: [wan], addresses: [own], routes: [route], at: at(0))
        _ = tracker.timePassed(at: at(200))
        #expect(tracker.deadline == nil)
        _ = overflow ? tracker.overflow(at: at(300)) : tracker.receive(RouteMessage(.lost), at: at(300))
        #expect(tracker.losses == 1)
        #expect(tracker.timePassed(at: at(300)) == [.ask(.links, sequence: 4)])
        _ = answer(4, at: at(310))
        #expect(tracker.timePassed(at: at(560)) == [.tell(NetworkState(.interface))])
    }

    @Test("Reports that are lost during an answer are asked for after it")
    mutating func lossDuringAnswer() {
        _ = tracker.start(at: at(0))
        _ = tracker.overflow(at: at(1))
        _ = answer(1, links: [wan], at: at(2))
        #expect(tracker.timePassed(at: at(102)) == [.ask(.links, sequence: 4)])
    }

    @Test("An answer in whose midst something changed is asked for again")
    mutating func interrupted() {
        _ = tracker.start(at: at(0))
        _ = tracker.receive(RouteMessage(.changes([wan]), answers: 1, isInterrupted: true), at: at(0))
        _ = answer(1, at: at(0))
        #expect(tracker.timePassed(at: at(100)) == [.ask(.links, sequence: 4)])
        _ = answer(4, links: [wan], at: at(100))
        _ = tracker.timePassed(at: at(600))
        #expect(tracker.deadline == nil)
    }

    @Test("An answer that stays away is asked for again; the late one says nothing")
    mutating func late() {
        _ = tracker.start(at: at(0))
        #expect(tracker.deadline == at(5000))
        #expect(tracker.timePassed(at: at(5000)) == [.ask(.links, sequence: 2)])
        #expect(tracker.receive(RouteMessage(.ended, answers: 1), at: at(5001)) == [])
        #expect(answer(2, at: at(5002)).last == .tell(NetworkState(.interface)))
    }

    @Test("Without a first answer the tracker gives up; later it asks again")
    mutating func refused() {
        _ = tracker.start(at: at(0))
        #expect(tracker.receive(RouteMessage(.refused(1), answers: 1), at: at(0)) == [.giveUp(1)])
        _ = answer(1, links: [wan], at: at(0))
        _ = tracker.overflow(at: at(0))
        #expect(tracker.timePassed(at: at(100)) == [.ask(.links, sequence: 4)])
        #expect(tracker.receive(RouteMessage(.refused(16), answers: 4), at: at(101)) == [])
        #expect(tracker.deadline == at(5101))
        #expect(tracker.timePassed(at: at(5101)) == [.ask(.links, sequence: 5)])
    }

    @Test("After any sequence of events, the tracker finally reports the present state", arguments: Seed.several(300))
    func simulated(seed: Seed) {
        var random = SeededRandom(seed)
        var kernel = SimulatedKernel()
        var tracker = NetworkTracker()
        var now = at(1)
        var told: [NetworkState] = []
        func carryOut(_ directives: [NetworkTracker.Directive]) {
            for directive in directives {
                switch directive {
                case .ask(let kind, let sequence): kernel.answer(kind, sequence: sequence)
                case .tell(let state): told.append(state)
                case .giveUp(let number): Issue.record("gave up: \(number)")
                }
            }
        }
        func takeOne() {
            if kernel.takeOverflow() {
                carryOut(tracker.overflow(at: now))
            } else if let message = kernel.take() {
                carryOut(tracker.receive(message, at: now))
            }
        }
        carryOut(tracker.start(at: now))
        for _ in 0..<200 {
            if random.once(in: 2) { kernel.change(&random) }
            if random.once(in: 8) { for _ in 0..<20 { kernel.change(&random) } }
            for _ in 0..<Int.random(in: 0...6, using: &random) { takeOne() }
            now = now.advanced(by: .milliseconds(Int.random(in: 0...80, using: &random)))
            if let deadline = tracker.deadline, deadline <= now { carryOut(tracker.timePassed(at: now)) }
        }
        // Now nothing changes any more.
        var turns = 0
        while turns < 1_000, tracker.deadline != nil || kernel.hasOverflown || !kernel.waiting.isEmpty {
            turns += 1
            while kernel.hasOverflown || !kernel.waiting.isEmpty { takeOne() }
            if let deadline = tracker.deadline {
                now = max(now, deadline)
                carryOut(tracker.timePassed(at: now))
            }
        }
        #expect(tracker.deadline == nil, "it comes to rest")
        #expect(told.last == kernel.truth)
        #expect(!zip(told, told.dropFirst()).contains(where: ==), "no state is told twice in a row")
    }
}
