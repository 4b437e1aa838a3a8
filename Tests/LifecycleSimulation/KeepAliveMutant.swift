internal import CoreAPI
internal import Lifecycle

/// A keep-alive without one protection. The simulation has to detect it.
package struct KeepAliveMutant: Sendable {
    /// The defect.
    package let name: String
    /// The rules that it lives by.
    var rules = KeepAliveRules()
    /// Damages the machine after a handler was called.
    var damageRun: (@Sendable (inout KeepAliveMachine, String) -> Void)?
    /// Damages the machine after traffic on a registration.
    var damageTraffic: (@Sendable (inout KeepAliveMachine, String, BootInstant) -> Void)?
    /// Damages the machine after it was restored.
    var damageRestored: (@Sendable (inout KeepAliveMachine, BootInstant) -> Void)?
    /// Damages the stored record.
    var damageRecord: (@Sendable (inout KeepAliveRecord, KeepAliveMachine) -> Void)?
    /// The interval that it asks for in place of the given one.
    var changeInterval: (@Sendable (Duration) -> Duration)?

    init(_ name: String, _ damage: (inout KeepAliveMutant) -> Void) {
        self.name = name
        damage(&self)
    }

    package static let all: [KeepAliveMutant] = [
        KeepAliveMutant("runs twice in an interval") {
            $0.damageRun = { machine, name in machine.handlers[name]?.ranIn -= 1 }
        },
        KeepAliveMutant("leaves out every other interval") {
            $0.damageRun = { machine, name in machine.handlers[name]?.ranIn += 1 }
        },
        KeepAliveMutant("gives 11 s") { $0.rules = KeepAliveRules(budget: .seconds(11)) },
        KeepAliveMutant("tells no call that time is short") {
            $0.damageRun = { machine, name in machine.handlers[name]?.isWarned = true }
        },
        KeepAliveMutant("does not watch the running calls") {
            $0.damageRun = { machine, name in machine.handlers[name]?.run = nil }
        },
        KeepAliveMutant("runs as early as it can") { $0.rules = KeepAliveRules(slackShare: 1) },
        KeepAliveMutant("believes old traffic") { $0.rules = KeepAliveRules(proofLifetime: .seconds(500)) },
        KeepAliveMutant("takes traffic for a refresh") {
            $0.damageTraffic = { machine, name, now in
                guard let registration = machine.registrations[name] else { return }
                machine.registrations[name]?.lapsesAt = now.advanced(by: registration.lifetime)
            }
        },
        KeepAliveMutant("forgets at a restart what is due") {
            $0.damageRestored = { machine, now in
                for name in machine.handlerNames {
                    guard let window = machine.handlers[name]?.window else { continue }
                    machine.handlers[name]?.ranIn = window.number(at: now)
                }
            }
        },
        KeepAliveMutant("begins anew at a restart") { $0.damageRecord = { record, _ in record.handlers = [] } },
        KeepAliveMutant("takes an interrupted call for one that ended") {
            $0.damageRecord = { record, machine in
                for index in record.handlers.indices where machine.running.contains(record.handlers[index].name) {
                    record.handlers[index].ranIn += 1
                }
            }
        },
        KeepAliveMutant("forgets registrations at a restart") {
            $0.damageRecord = { record, _ in record.registrations = [] }
        },
        KeepAliveMutant("believes registrations after a new start of the machine") {
            $0.damageRestored = { machine, now in
                for name in machine.registrationNames {
                    guard let lifetime = machine.registrations[name]?.lifetime else { continue }
                    machine.registrations[name]?.lapsesAt = now.advanced(by: lifetime)
                }
            }
        },
        KeepAliveMutant("prepares for half of the time") { $0.changeInterval = { $0 / 2 } },
    ]
}
