internal import Coordination
package import CoreAPI

extension Schedule {
    /// Generates the schedule of a seed: most are short and small, some are long and crowded.
    package init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let size = random.number(0..<100)
        let busy =
            size < 40 ? random.time(400..<2500) : size < 90 ? random.time(2000..<7000) : random.time(6000..<15000)
        let mains = random.number(0..<3)
        let executors = size < 40 ? random.number(1..<3) : size < 90 ? random.number(1..<5) : random.number(3..<9)
        quietFrom = busy
        onHandoverTimeout = random.once(in: 3) ? .fence : .kill
        if random.once(in: 4) { budget = .microseconds(random.time(800..<4000)) }
        faultProfile = FaultProfile(drawnFrom: &random)

        let reboot = random.once(in: 14) ? random.number(busy / 4..<busy) : nil
        add(mains: mains, executors: executors, between: 0, and: reboot ?? busy, &random)
        if let reboot {
            incidents.append(Incident(at: reboot, kind: .reboot))
            add(mains: min(mains, 1), executors: random.number(1..<3), between: reboot + 1, and: busy, &random)
        }
        addFaults(to: members.indices, until: busy, perMember: size < 40 ? 2 : 3, &random)
        // After the faults have ended, one more push and one more message find a working group.
        let last = join(.executor, at: busy + random.time(0..<1000), &random)
        push(last, deadline: 20_000_000, at: busy + random.time(1000..<1500), &random)
        // A random source of its own: the rest of the schedule is the same with and without rests.
        var restRandom = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 26)
        if restRandom.once(in: 3) { addRests(until: busy, perMember: size < 40 ? 2 : 3, &restRandom) }
        var callRandom = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 25)
        if callRandom.once(in: 3) { addCalls(until: busy, perMember: size < 40 ? 2 : 3, &callRandom) }
        incidents.sort { $0.at < $1.at }
    }

    /// Adds holders, and for each start of a Main requests to rest and to resume.
    private mutating func addRests(until end: Int, perMember most: Int, _ random: inout SeededRandom) {
        let starts = incidents.filter { if case .start = $0.kind { true } else { false } }
        guard !starts.isEmpty else { return }
        let first = members.count
        for number in 0..<random.number(1..<3) {
            let open = number == 0 ? random.number(0..<end / 2) : random.number(0..<end)
            let holder = join(.holder, at: open, &random)
            if random.once(in: 5) {
                incidents.append(Incident(at: open + random.number(0..<end), kind: .close(member: holder)))
            }
        }
        addFaults(to: first..<members.count, until: end, perMember: most, &random)
        for start in starts {
            guard let main = start.member else { continue }
            var time = start.at
            for _ in 0..<random.number(1..<5) {
                time += random.time(100..<2500)
                incidents.append(Incident(at: time, kind: .rest(member: main)))
                guard random.once(in: 2) else { continue }
                time += random.once(in: 4) ? random.time(0..<20) : random.time(20..<3000)
                incidents.append(Incident(at: time, kind: .resume(member: main)))
            }
            // Some Mains rest after the faults have ended, and the last push wakes them.
            guard random.once(in: 2) else { continue }
            incidents.append(Incident(at: end + random.time(0..<2500), kind: .rest(member: main)))
        }
        let last = join(.executor, at: end + random.time(0..<2000), &random)
        push(last, deadline: 20_000_000, at: end + random.time(2500..<5000), &random)
    }

    /// Adds calls that cores begin, members that take batons, and Mains that ask for the core.
    private mutating func addCalls(until end: Int, perMember most: Int, _ random: inout SeededRandom) {
        faultProfile.calls = random.number(1..<3)
        if random.once(in: 2) { faultProfile.refusedBatons = random.number(2..<6) }
        if faultProfile.activities == 0, random.once(in: 2) { faultProfile.activities = random.number(1..<4) }
        faultProfile.keepsAtHost = random.once(in: 3)
        batonLifetime = .seconds(random.once(in: 2) ? 10 : random.number(1..<4))
        let first = members.count
        for _ in 0..<random.number(1..<3) {
            let open = random.number(0..<end * 3 / 4)
            let main = join(.main, at: open, &random)
            let kind = Incident.Kind.start(
                member: main, takingOver: random.once(in: 3), insisting: random.once(in: 8))
            incidents.append(Incident(at: open + random.number(0..<max(1, end - open)), kind: kind))
            // A Main that closes, or is killed, leaves the calls to the next owner.
            guard random.once(in: 3) else { continue }
            incidents.append(Incident(at: open + random.number(0..<end), kind: .close(member: main)))
        }
        addFaults(to: first..<members.count, until: end, perMember: most + 1, &random)
        for member in members.indices where members[member].role != .holder {
            members[member].takesBatons = members[member].role == .main ? !random.once(in: 4) : random.once(in: 3)
        }
    }

    private mutating func join(_ role: SessionRole, at time: Int, _ random: inout SeededRandom) -> Int {
        let number = members.count
        // Several participants of one process must obey every rule as well.
        let shares = number > 0 && random.once(in: 10)
        let process = shares ? random.number(0..<number) : number
        let plan = MemberPlan(
            role: role, process: members.indices.contains(process) ? members[process].process : number)
        members.append(plan)
        incidents.append(Incident(at: time, kind: .open(member: number)))
        return number
    }

    private mutating func push(_ member: Int, deadline: Int, at time: Int, _ random: inout SeededRandom) {
        // Some pushes are for the same message; some come long after it, some before.
        let isNew = messages.isEmpty || !random.once(in: 4)
        if isNew {
            let kind = random.number(0..<10)
            messages.append(kind < 7 ? .text : kind < 9 ? .nothingToShow : .invitation)
            let arrival = max(0, time + random.time(-600..<900))
            incidents.append(Incident(at: arrival, kind: .arrive(message: messages.count - 1)))
        }
        let message = isNew ? messages.count - 1 : random.number(0..<messages.count)
        incidents.append(
            Incident(
                at: time,
                kind: .push(member: member, message: message, deadline: deadline, insists: random.once(in: 8))))
    }

    private mutating func add(
        mains: Int, executors: Int, between start: Int, and end: Int, _ random: inout SeededRandom
    ) {
        let span = max(end - start, 2000)
        for _ in 0..<mains {
            let open = start + random.number(0..<span / 2)
            let member = join(.main, at: open, &random)
            let takesOver = random.once(in: 3)
            let time = open + random.number(0..<span / 2)
            if random.once(in: 8) {
                // The first commit of a Main is its request, if a member owns.
                let duration = random.time(300..<6000)
                incidents.append(
                    Incident(at: time, kind: .freezeAtCommit(member: member, skipping: 0, duration: duration)))
            }
            let insists = faultProfile.activities > 0 && random.once(in: 4)
            incidents.append(
                Incident(at: time, kind: .start(member: member, takingOver: takesOver, insisting: insists)))
            if faultProfile.activities > 0, !insists, random.once(in: 4) {
                // The Main waits for activities for a while, and then no longer.
                let later = time + random.time(50..<3000)
                incidents.append(
                    Incident(at: later, kind: .start(member: member, takingOver: takesOver, insisting: true)))
            }
            if random.once(in: 5) {
                incidents.append(Incident(at: open + random.number(0..<span), kind: .close(member: member)))
            }
        }
        for _ in 0..<executors {
            let open = start + random.number(0..<span * 3 / 4)
            let member = join(.executor, at: open, &random)
            for _ in 0..<random.number(1..<3) {
                let deadline = random.once(in: 4) ? random.time(50..<1000) : random.time(1000..<20000)
                push(member, deadline: deadline, at: open + random.number(1..<span / 4), &random)
            }
            if random.once(in: 12) {
                incidents.append(Incident(at: open + random.number(0..<span), kind: .close(member: member)))
            }
        }
    }

    private mutating func addFaults(
        to concerned: Range<Int>, until end: Int, perMember most: Int, _ random: inout SeededRandom
    ) {
        // Some schedules have no faults: there the promises apply without exception.
        guard !random.once(in: 6) else { return }
        for member in concerned {
            for _ in 0..<random.number(0..<most) {
                let kind: Incident.Kind =
                    switch random.number(0..<20) {
                    case 0..<3: .kill(process: members[member].process)
                    case 3..<6: .killAtCommit(member: member, skipping: random.number(0..<5), after: true)
                    case 6: .killAtCommit(member: member, skipping: random.number(0..<5), after: false)
                    case 7..<11: .freeze(process: members[member].process, duration: random.time(50..<4000))
                    case 11..<14:
                        .freezeAtCommit(
                            member: member, skipping: random.number(0..<5), duration: random.time(50..<6000))
                    case 14: .freeze(process: members[member].process, duration: random.time(4000..<9000))
                    case 15, 16: .failCore(member: member)
                    case 17, 18: .trouble(member: member, duration: random.time(20..<3000))
                    default:
                        .sleep(duration: random.once(in: 4) ? random.time(60_000..<400_000) : random.time(10..<30_000))
                    }
                incidents.append(Incident(at: random.number(0..<end), kind: kind))
            }
        }
    }
}

extension FaultProfile {
    /// Draws the rates of a schedule: most faults never happen in it.
    init(drawnFrom random: inout SeededRandom) {
        self.init()
        for (_, rate) in FaultProfile.rates where random.once(in: 3) {
            self[keyPath: rate] = random.number(3..<25)
        }
        if random.once(in: 3) { lostWakeUps = 0 }
        // Faults with rare opportunities happen at most of them.
        for rate in [\FaultProfile.lastMoments, \.reusedNumbers, \.forbiddenKills, \.activities]
        where self[keyPath: rate] > 0 {
            self[keyPath: rate] = random.number(1..<4)
        }
        showsProcesses = !random.once(in: 2)
    }
}

/// Draws from a seeded random source.
extension SeededRandom {
    /// Returns true once in `count` times; never if `count` is zero.
    package mutating func once(in count: Int) -> Bool {
        count > 0 && next() % UInt64(count) == 0
    }

    /// Returns a number from the range.
    package mutating func number(_ range: Range<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// Returns a time from the range of milliseconds, in microseconds.
    package mutating func time(_ milliseconds: Range<Int>) -> Int {
        number(milliseconds.lowerBound * 1000..<milliseconds.upperBound * 1000)
    }
}
