import CoreAPI

@testable import Lifecycle

/// A keep-alive machine in a test: handlers run at once and take as long as they are told to.
struct KeepAliveDriver {
    static let start = BootInstant(nanoseconds: 5_000_000_000_000)

    var machine: KeepAliveMachine
    var now = KeepAliveDriver.start
    /// The time that a call of each handler takes; zero where the test sets nothing.
    var takes: [String: Duration] = [:]
    /// The calls of handlers, with the time since the start.
    var runs: [(at: Duration, run: KeepAliveRun)] = []
    var warnings: [(at: Duration, handler: String)] = []
    var cuts: [(at: Duration, handler: String)] = []
    private var ends: [String: BootInstant] = [:]

    init(rules: KeepAliveRules = KeepAliveRules()) {
        machine = KeepAliveMachine(rules: rules)
    }

    var elapsed: Duration { Self.start.duration(to: now) }

    /// When a handler was called.
    func times(_ handler: String) -> [Duration] { runs.filter { $0.run.handler == handler }.map(\.at) }

    /// Lets time pass, and stops wherever an action is due. With `asleep`, no handler runs meanwhile.
    mutating func pass(_ duration: Duration, asleep: Bool = false) {
        let end = now.advanced(by: duration)
        while !asleep {
            let next = ([machine.nextStep] + ends.values.map { $0 }).compactMap { $0 }.min()
            guard let next, next <= end else { break }
            now = max(now, next)
            step()
        }
        now = end
        step()
    }

    mutating func step() {
        for (name, end) in ends.sorted(by: { $0.key < $1.key }) where end <= now {
            ends[name] = nil
            machine.finished(handler: name, at: now)
        }
        for directive in machine.step(at: now) {
            switch directive {
            case .run(let run):
                runs.append((elapsed, run))
                if let duration = takes[run.handler] {
                    ends[run.handler] = now.advanced(by: duration)
                } else {
                    machine.finished(handler: run.handler, at: now)
                }
            case .warn(let handler, _): warnings.append((elapsed, handler))
            case .cutOff(let handler):
                cuts.append((elapsed, handler))
                ends[handler] = nil
            }
        }
    }
}
