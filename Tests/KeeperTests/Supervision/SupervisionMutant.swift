internal import CoreAPI
internal import Lifecycle

/// The machine broken in one way, by a change of the events that it receives or of the actions that are passed on.
struct SupervisionMutant: Sendable, CustomStringConvertible {
    let description: String
    var options: @Sendable (inout SupervisionOptions) -> Void = { _ in }
    var event: @Sendable (SupervisionEvent) -> SupervisionEvent? = { $0 }
    var directives: @Sendable ([SupervisionDirective], SupervisionEvent) -> [SupervisionDirective] = { said, _ in said }
    var watches: @Sendable (Bool) -> Bool = { $0 }

    /// The machine as it is.
    static let none = SupervisionMutant(description: "none")

    static let all: [SupervisionMutant] = [
        SupervisionMutant(
            description: "exit 0 is a failure",
            event: { $0 == .ended(.exited(status: 0)) ? .ended(.exited(status: 1)) : $0 }),
        SupervisionMutant(
            description: "a failure is a closing",
            event: { $0 == .ended(.exited(status: 1)) ? .ended(.exited(status: 0)) : $0 }),
        SupervisionMutant(
            description: "a signal is a closing",
            event: { $0 == .ended(.killed(signal: 9)) ? .ended(.exited(status: 0)) : $0 }),
        SupervisionMutant(description: "no limit", options: { $0.restart.limit = 10_000 }),
        SupervisionMutant(description: "a limit of one too many", options: { $0.restart.limit += 1 }),
        SupervisionMutant(description: "a limit of one too few", options: { $0.restart.limit -= 1 }),
        SupervisionMutant(description: "a window that is too short", options: { $0.restart.window = .seconds(100) }),
        SupervisionMutant(description: "no back-off", options: { $0.restart.longestDelay = .zero }),
        SupervisionMutant(description: "back-off without an end", options: { $0.restart.longestDelay = .seconds(600) }),
        SupervisionMutant(description: "never steady", options: { $0.restart.steadyAfter = .seconds(100_000) }),
        SupervisionMutant(description: "always steady", options: { $0.restart.steadyAfter = .zero }),
        SupervisionMutant(
            description: "restarts have a user interface",
            directives: { said, _ in said.map { $0 == .start(inBackground: true) ? .start(inBackground: false) : $0 } }),
        SupervisionMutant(
            description: "a wanted start has none",
            directives: { said, _ in said.map { $0 == .start(inBackground: false) ? .start(inBackground: true) : $0 } }),
        SupervisionMutant(description: "data is not heard", event: { $0 == .dataCame ? nil : $0 }),
        SupervisionMutant(description: "the holder's wake is not heard", event: { $0 == .holderWoke ? nil : $0 }),
        SupervisionMutant(
            description: "the holder's wake hastens a start", event: { $0 == .holderWoke ? .dataCame : $0 }),
        SupervisionMutant(
            description: "the holder's wake is a sign of life",
            event: { $0 == .holderWoke ? .saidAlive : $0 }),
        SupervisionMutant(
            description: "a wake by the holder before the sleep is forgotten",
            directives: { said, event in
                event == .fellAsleep ? said.filter { if case .tellBudget = $0 { false } else { true } } : said
            }),
        SupervisionMutant(
            description: "sleep is not heard", event: { $0 == .fellAsleep ? .saidAlive : $0 }),
        SupervisionMutant(description: "use is not heard", event: { $0 == .awoke ? .saidAlive : $0 }),
        SupervisionMutant(
            description: "calls are not heard",
            event: { if case .calls = $0 { .saidAlive } else { $0 } }),
        SupervisionMutant(description: "life is not heard", event: { $0 == .saidAlive ? nil : $0 }),
        SupervisionMutant(description: "stop is not heard", event: { $0 == .stopWanted ? nil : $0 }),
        SupervisionMutant(
            description: "stop is forgotten",
            directives: { said, event in event == .stopWanted ? said.filter { $0 != .remember(isClosed: true) } : said }
        ),
        SupervisionMutant(
            description: "no kill at the limit", directives: { said, _ in said.filter { $0 != .kill(.budget) } }),
        SupervisionMutant(description: "no watchdog", options: { $0.watchdog = nil }),
        SupervisionMutant(description: "a budget that is too long", options: { $0.wakeBudget = .seconds(11) }),
        SupervisionMutant(description: "a warning that is too late", options: { $0.wakeWarning = .seconds(9) }),
        SupervisionMutant(description: "a stop without an end", options: { $0.stopGrace = .seconds(100_000) }),
        SupervisionMutant(description: "sockets are watched always", watches: { _ in true }),
        SupervisionMutant(description: "sockets are never watched", watches: { _ in false }),
        SupervisionMutant(
            description: "sockets of a closed Main are kept",
            directives: { said, _ in said.filter { $0 != .letSocketsGo } }),
    ]
}
