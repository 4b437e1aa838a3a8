import CoreAPI

@testable import Lifecycle

/// A connectivity machine in a test: time that passes by hand, actions that are carried out at a word.
struct MachineDriver {
    var machine: ConnectivityMachine
    var now = BootInstant(nanoseconds: 1_000_000_000_000)
    /// The outcome of each kind of action; success where the test sets nothing.
    var outcome: (ConnectivityAction) -> ConnectivityMachine.Outcome = MachineDriver.well
    /// All lines of the trace.
    var trace: [ConnectivityTransition] = []
    /// All that was carried out, in order.
    var carriedOut: [ConnectivityAction] = []

    init(
        _ application: ApplicationState = .foreground, _ connectivity: Connectivity = .disconnected,
        rules: ConnectivityRules = ConnectivityRules(), seed: UInt64 = 1
    ) {
        machine = ConnectivityMachine(
            startingIn: LifecyclePosition(application, connectivity), isRegistered: connectivity == .connected,
            rules: rules,
            seed: seed)
    }

    /// Everything succeeds, registrations survive, connections stand.
    static func well(_ action: ConnectivityAction) -> ConnectivityMachine.Outcome {
        switch action {
        case .prepareForBackground: .done(.preparation(.ready))
        case .checkConnectivity: .done(.connection(.stands))
        default: .done(.done)
        }
    }

    /// As ``well(_:)``, in a group without a holder.
    static func withoutHolder(_ action: ConnectivityAction) -> ConnectivityMachine.Outcome {
        action == .rest ? .done(.ownership(.held)) : well(action)
    }

    @discardableResult
    mutating func feed(_ event: ConnectivityEvent) -> ConnectivityTransition {
        let transition = machine.handle(event, at: now)
        trace.append(transition)
        return transition
    }

    /// Carries out the next action; false when there is none.
    @discardableResult
    mutating func carryOutOne() -> Bool {
        guard let next = machine.pending.first else { return false }
        carriedOut.append(next.action)
        if let transition = machine.finished(next.number, outcome(next.action), at: now) { trace.append(transition) }
        return true
    }

    /// Carries out all pending actions, and those that follow from them.
    mutating func carryOutAll() {
        while carryOutOne() {}
    }

    /// Feeds an event and carries out all that follows.
    @discardableResult
    mutating func run(_ event: ConnectivityEvent) -> [ConnectivityAction] {
        let before = carriedOut.count
        feed(event)
        carryOutAll()
        return Array(carriedOut[before...])
    }

    /// Lets time pass, stopping at each instant that the machine waits for.
    mutating func pass(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = machine.nextStep, next <= end {
            now = max(now, next)
            if let transition = machine.timePassed(at: now) { trace.append(transition) }
        }
        now = end
    }
}
