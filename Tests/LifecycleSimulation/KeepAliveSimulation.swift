internal import CoreAPI
internal import Lifecycle

/// One schedule of a keep-alive, drawn from a seed: handlers of all lengths, sleeps, restarts and new starts of the
/// machine. It derives the expected calls by itself and records every breach.
package struct KeepAliveSimulation {
    struct Books {
        var interval: Duration
        var window: KeepAliveWindow
        /// The last interval that a call stood for.
        var covered: Int64
        /// The running call, and whether it was warned that its time is short.
        var run: (since: BootInstant, isWarned: Bool)?
    }

    struct Registration {
        var lifetime: Duration
        var lapsesAt: BootInstant
        var provenAt: BootInstant?
    }

    package var breaches: [String] = []
    /// Every rule that came up.
    package var rules: Set<String> = []
    package var runs = 0
    package var together = 0
    var machine: KeepAliveMachine
    private var random: SeededRandom
    var now = BootInstant(nanoseconds: 1_000_000_000_000)
    private var boot = BootID(high: 1, low: 1)
    var books: [String: Books] = [:]
    var registrations: [String: Registration] = [:]
    let mutant: KeepAliveMutant?

    package static func run(seed: UInt64, _ mutant: KeepAliveMutant? = nil) -> KeepAliveSimulation {
        var simulation = KeepAliveSimulation(seed: seed, mutant)
        for _ in 0..<80 where simulation.breaches.isEmpty { simulation.happen() }
        return simulation
    }

    private init(seed: UInt64, _ mutant: KeepAliveMutant?) {
        random = SeededRandom(seed: seed)
        self.mutant = mutant
        machine = KeepAliveMachine(rules: mutant?.rules ?? KeepAliveRules())
    }

    mutating func require(_ holds: Bool, _ rule: String, _ what: @autoclosure () -> Any) {
        rules.insert(rule)
        if !holds, breaches.count < 5 { breaches.append("\(rule): \(what())") }
    }

    private mutating func number(_ limit: UInt64) -> UInt64 { random.next() % limit }

    private mutating func happen() {
        switch number(12) {
        case 0: addHandler()
        case 1: register()
        case 2, 3: traffic()
        case 4: finishOne()
        case 5: pass(.seconds(Int(number(4_000))), isAsleep: true)
        case 6: restart(isReboot: number(4) == 0)
        case 7: prepare()
        case 8: pass(.seconds(Int(number(15))))
        default: pass(.seconds(Int(number(1_500))))
        }
    }

    private mutating func addHandler() {
        let name = "handler \(number(4))"
        guard books[name] == nil else { return }
        let interval = Duration.seconds(600 + Int(number(4)) * 300)
        try? machine.add(handler: name, every: interval, at: now)
        guard let window = machine.handlers[name]?.window else { return }
        require(
            window.end(of: window.number(at: now)) <= now.advanced(by: interval), "P4: the first interval is no longer",
            name)
        books[name] = Books(interval: interval, window: window, covered: window.number(at: now) - 1)
        step()
    }

    private mutating func register() {
        let name = "registration \(number(3))"
        let lifetime = Duration.seconds(60 + Int(number(3_600)))
        try? machine.registered(name, for: lifetime, at: now)
        registrations[name] = Registration(lifetime: lifetime, lapsesAt: now.advanced(by: lifetime), provenAt: now)
    }

    private mutating func traffic() {
        let name = "registration \(number(3))"
        machine.traffic(on: name, at: now)
        mutant?.damageTraffic?(&machine, name, now)
        registrations[name]?.provenAt = now
    }

    private mutating func finishOne() {
        guard let name = books.filter({ $0.value.run != nil }).keys.min() else { return }
        books[name]?.run = nil
        require(machine.finished(handler: name, at: now), "P4: a call that ends in time is in time", name)
    }

    private mutating func prepare() {
        let interval = Duration.seconds(600 + Int(number(1_200)))
        let asked = mutant?.changeInterval?(interval) ?? interval
        let answer = machine.prepareForBackground(interval: asked, at: now)
        let isSafe = registrations.values.allSatisfy { $0.lapsesAt > now.advanced(by: interval) }
        require(answer.isReady == isSafe, "P5: the answer", answer)
    }

    private mutating func restart(isReboot: Bool) {
        var record = machine.record(on: boot)
        mutant?.damageRecord?(&record, machine)
        if isReboot {
            boot = BootID(high: 1, low: boot.low + 1)
            now = BootInstant(nanoseconds: 1_000_000_000 * (1 + number(100)))
        } else {
            now = now.advanced(by: .seconds(Int(number(2_000))))
        }
        guard let kept = try? KeepAliveRecord(bytes: record.bytes),
            let restored = try? KeepAliveMachine(
                restoring: kept, rules: mutant?.rules ?? KeepAliveRules(), on: boot, at: now)
        else {
            require(false, "P4: a record can be restored", record)
            return
        }
        machine = restored
        mutant?.damageRestored?(&machine, now)
        for (name, book) in books.sorted(by: { $0.key < $1.key }) {
            try? machine.add(handler: name, every: book.interval, at: now)
            if book.run != nil { books[name]?.covered -= 1 }
            books[name]?.run = nil
            if isReboot {
                books[name]?.window = KeepAliveWindow(endingAt: now, interval: book.interval)
                books[name]?.covered = -1
            }
        }
        if isReboot {
            for name in registrations.keys {
                registrations[name]?.lapsesAt = now
                registrations[name]?.provenAt = nil
            }
        }
        step()
    }

    private mutating func pass(_ duration: Duration, isAsleep: Bool = false) {
        let end = now.advanced(by: duration)
        while !isAsleep, breaches.isEmpty, let next = machine.nextStep, next <= end {
            now = max(now, next)
            step()
        }
        now = max(now, end)
        step()
    }
}

/// The machine's directives, against the books.
extension KeepAliveSimulation {
    mutating func step() {
        let directives = machine.step(at: now)
        if directives.count(where: { if case .run = $0 { true } else { false } }) > 1 { together += 1 }
        for directive in directives {
            switch directive {
            case .run(let run): judge(run)
            case .warn(let name, _):
                let run = books[name]?.run
                require(
                    run.map { !$0.isWarned && $0.since.advanced(by: .seconds(8)) <= now } ?? false, "P4: told", name)
                books[name]?.run?.isWarned = true
            case .cutOff(let name):
                let run = books[name]?.run
                require(
                    run.map { $0.isWarned && $0.since.advanced(by: .seconds(10)) <= now } ?? false,
                    "P4: told, then cut off",
                    name)
                books[name]?.run = nil
            }
        }
        for (name, book) in books {
            if let run = book.run {
                require(run.since.advanced(by: .seconds(10)) > now, "P4: cut off after 10 s", name)
            } else {
                require(book.window.end(of: book.covered + 1) > now, "P4: what is due is called", name)
            }
        }
    }

    private mutating func judge(_ run: KeepAliveRun) {
        runs += 1
        guard let book = books[run.handler] else { return require(false, "P4: a known handler", run) }
        require(book.run == nil, "P4: one call at a time", run)
        require(run.endsAt == now.advanced(by: .seconds(10)), "P4: 10 s", run)
        let slack = book.interval / 10
        let present = book.window.number(at: now)
        let isNearEnd = now.advanced(by: slack) >= book.window.end(of: present)
        let stands = isNearEnd ? present : present - 1
        require(stands > book.covered, "P4: once in each interval", run)
        require(Int64(run.missed) == stands - book.covered - 1, "P4: it knows what was missed", run)
        books[run.handler]?.covered = stands
        books[run.handler]?.run = (now, false)
        for name in run.provenAlive {
            guard let registration = registrations[name], let provenAt = registration.provenAt else {
                require(false, "P4: what was proved alive", run)
                continue
            }
            require(provenAt.advanced(by: .seconds(60)) >= now, "P4: just proved alive", run)
            require(registration.lapsesAt > now.advanced(by: book.interval), "P4: it does not lapse meanwhile", run)
        }
        require(
            (run.provenAlive + run.toRefresh).sorted() == registrations.keys.sorted(),
            "P4: every registration is one of both",
            run)
        mutant?.damageRun?(&machine, run.handler)
    }
}
