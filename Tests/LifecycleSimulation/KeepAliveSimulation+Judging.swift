internal import CoreAPI
internal import Lifecycle

/// What the machine wants, against the books.
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
