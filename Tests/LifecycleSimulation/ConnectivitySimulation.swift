internal import CoreAPI
package import Lifecycle

/// One schedule of a connectivity machine: events, times and outcomes drawn from a seed, watched by a judge.
package struct ConnectivitySimulation {
    package static let kinds = ConnectivityEvent.Kind.allCases

    private(set) var judge: ConnectivityValidator
    private var machine: ConnectivityMachine
    private var random: SeededRandom
    private var now = BootInstant(nanoseconds: 1_000_000_000_000)
    private let mutant: ConnectivityMutant?
    /// True if the last event was a keep-alive.
    private var isAfterKeepAlive = false

    /// Runs the schedule of a seed.
    package static func run(seed: UInt64, _ mutant: ConnectivityMutant? = nil) -> ConnectivityValidator {
        var simulation = ConnectivitySimulation(seed: seed, mutant)
        for _ in 0..<60 where simulation.judge.breaches.isEmpty { simulation.step() }
        simulation.rest()
        return simulation.judge
    }

    private init(seed: UInt64, _ mutant: ConnectivityMutant?) {
        random = SeededRandom(seed: seed)
        self.mutant = mutant
        let position = LifecyclePosition.all[Int(random.next() % 6)]
        var rules = ConnectivityRules(unprepared: .stayAwake)
        mutant?.changeRules?(&rules)
        machine = ConnectivityMachine(
            startingIn: position, isRegistered: position.connectivity == .connected, rules: rules, seed: seed)
        judge = ConnectivityValidator(startingIn: position)
    }

    private mutating func chance(_ share: UInt64) -> Bool { random.next() % share == 0 }

    private mutating func step() {
        let event = drawEvent()
        isAfterKeepAlive = event == .keepAlive
        judge.happened(event)
        judge.isLossNews =
            event == .connectionLost && (machine.isSubscribed || machine.isRegistered && machine.wake != nil)
            && machine.question != .connection
        if event == .connectionLost, machine.isRegistered { judge.isConnectionGone = true }
        judge.isMadeUpFor =
            event == .keepAlive && machine.position == .backgroundConnected && !machine.isRegistered
            && machine.pending.isEmpty && machine.wake == nil
        if let heard = mutant?.changeEvent.map({ $0(event) }) ?? event {
            mutant?.damageBefore?(&machine)
            note(machine.handle(heard, at: now))
        }
        switch random.next() % 4 {
        case 0: break
        case 1: for _ in 0..<(random.next() % 4) { carryOutOne() }
        default: rest()
        }
        switch random.next() % 3 {
        case 0: break
        case 1: pass(random.duration(below: .seconds(12)))
        default: pass(random.duration(below: .seconds(900)))
        }
    }

    private mutating func drawEvent() -> ConnectivityEvent {
        // Two wakes meet, and in one of them calls begin and the network is lost and found, more often than chance
        // would have it.
        if isAfterKeepAlive, chance(2) { return .dataOnKeptSocket }
        if machine.wake != nil, machine.position.application == .background {
            switch random.next() % 5 {
            case 0, 1: return machine.position.connectivity == .connected ? .networkLost : .networkBack
            case 2: return .activeCallBegan
            default: break
            }
        }
        return switch Self.kinds[Int(random.next() % UInt64(Self.kinds.count))] {
        case .networkLost: .networkLost
        case .networkBack: .networkBack
        case .connectionLost: .connectionLost
        case .toBackground: .toBackground
        case .toForeground: .toForeground
        case .suspendedBySystem: .suspendedBySystem(interval: .seconds(600))
        case .dataOnKeptSocket: .dataOnKeptSocket
        case .keepAlive: .keepAlive
        case .cellularCallBegan: .cellularCallBegan
        case .cellularCallEnded: .cellularCallEnded
        case .killedOrRebooted:
            chance(2) ? .killedOrRebooted(finds: .connected) : .killedOrRebooted(finds: .disconnected)
        case .activeCallBegan: .activeCallBegan
        case .activeCallEnded: .activeCallEnded
        case .budgetOver: .budgetOver
        }
    }

    private mutating func drawOutcome(of action: ConnectivityAction) -> ConnectivityMachine.Outcome {
        if chance(7) { return .failed("it is so") }
        switch action {
        case .prepareForBackground:
            return .done(.preparation(chance(3) ? .notReady([.lapsed(registration: "sip")]) : .ready))
        case .checkConnectivity:
            return .done(.connection(ConnectionStatus.allCases[Int(random.next() % 3)]))
        case .rest:
            return .done(.ownership(chance(3) ? .held : .resting))
        case .resume:
            return .done(.ownership(chance(4) ? .lost : .held))
        default:
            return .done(.done)
        }
    }

    private mutating func carryOutOne() {
        guard let next = machine.pending.first, judge.breaches.isEmpty else { return }
        let outcome = drawOutcome(of: next.action)
        judge.carriedOut(next, outcome, at: machine.position)
        let heard = mutant?.changeOutcome?(outcome) ?? outcome
        mutant?.damageBefore?(&machine)
        if let transition = machine.finished(next.number, heard, at: now) { note(transition) }
    }

    private mutating func rest() {
        var count = 0
        while !machine.pending.isEmpty, count < 500, judge.breaches.isEmpty {
            carryOutOne()
            count += 1
        }
        judge.atRest(machine, at: now)
    }

    private mutating func pass(_ duration: Duration) {
        let end = now.advanced(by: duration)
        var count = 0
        while let next = machine.nextStep, next <= end, count < 500 {
            now = max(now, next)
            judge.stepComes(at: now, machine)
            mutant?.damageBefore?(&machine)
            if let transition = machine.timePassed(at: now) { note(transition) }
            judge.timePassed(to: now)
            count += 1
        }
        now = end
        judge.timePassed(to: now)
    }

    private mutating func note(_ transition: ConnectivityTransition) {
        mutant?.damageAfter?(&machine, transition, now)
        judge.judge(transition, machine)
    }
}

/// The cells of the table of transitions, written down a second time.
package enum ListedCells {
    /// The row of each event in each position. Other cells are not listed.
    package static let all: [(LifecyclePosition, ConnectivityEvent.Kind, TransitionNumber)] = {
        let foreground = ApplicationState.foreground
        var cells: [(LifecyclePosition, ConnectivityEvent.Kind, TransitionNumber)] = [
            (LifecyclePosition(foreground, .connected), .networkLost, .t1),
            (LifecyclePosition(foreground, .disconnected), .networkBack, .t2),
            (LifecyclePosition(foreground, .disconnected), .toBackground, .t3),
            (LifecyclePosition(.background, .disconnected), .networkBack, .t4),
            (LifecyclePosition(.background, .connected), .networkLost, .t5),
            (LifecyclePosition(.background, .connected), .suspendedBySystem, .t6),
            (LifecyclePosition(.background, .disconnected), .suspendedBySystem, .t7),
            (LifecyclePosition(foreground, .connected), .toBackground, .t8),
            (LifecyclePosition(.background, .connected), .toForeground, .t9),
            (LifecyclePosition(.background, .disconnected), .toForeground, .t10),
            (LifecyclePosition(.suspended, .connected), .dataOnKeptSocket, .t11),
            (LifecyclePosition(.suspended, .connected), .keepAlive, .t12),
            (LifecyclePosition(.suspended, .connected), .networkLost, .t13),
            (LifecyclePosition(.suspended, .disconnected), .networkBack, .t14),
            (LifecyclePosition(.suspended, .disconnected), .keepAlive, .t15),
            (LifecyclePosition(.suspended, .connected), .toForeground, .t16),
            (LifecyclePosition(.suspended, .disconnected), .toForeground, .t16),
        ]
        for application in ApplicationState.allCases {
            cells.append((LifecyclePosition(application, .connected), .cellularCallBegan, .t17))
            cells.append((LifecyclePosition(application, .connected), .cellularCallEnded, .t17))
            for connectivity in Connectivity.allCases {
                cells.append((LifecyclePosition(application, connectivity), .killedOrRebooted, .t18))
            }
        }
        return cells
    }()
}
