internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The background life of a group, as `status` shows it: the states of its applications, the levels of their services,
/// and the times of the next keep-alives.
struct LifeOverview: Sendable {
    private let applications: [ApplicationReport]
    private let levels: ServiceLevelTable
    private let keepAlives: [(name: String, machine: KeepAliveMachine)]
    private let now: BootInstant

    init(of group: any SharedStore, levels: ServiceLevelTable) async throws(SharedCoreError) {
        let clock = SystemClock()
        let now = clock.now()
        applications = try await ApplicationStates(group).all().applications
        keepAlives = try await KeepAliveRecords(group).all().sorted { $0.key < $1.key }.compactMap { name, record in
            (try? KeepAliveMachine(restoring: record, on: clock.bootID, at: now)).map { (name, $0) }
        }
        self.levels = levels
        self.now = now
    }

    /// `applications[]{session,state,saidBy}`.
    var applicationsJSON: JSONValue {
        .array(
            applications.map { application in
                .object([
                    "session": .text(application.session.description), "state": .text(application.state.rawValue),
                    "saidBy": .text(application.isOwn ? "itself" : "another"),
                ])
            })
    }

    /// `serviceLevels{foreground{…},background{…}}`.
    var levelsJSON: JSONValue {
        var states: JSONObject = [:]
        for state in Settings.levelledStates {
            var row: JSONObject = [:]
            for service in Service.allCases {
                row.append(service.rawValue, .text(levels.level(of: service, in: ServiceConditions(state)).rawValue))
            }
            states.append(state.rawValue, .object(row))
        }
        return .object(states)
    }

    /// `keepAlives[]{name,handlers[]{name,dueInMs},registrations[]{name,lapsesInMs}}`; a time that is over is 0.
    var keepAlivesJSON: JSONValue {
        .array(
            keepAlives.map { name, machine in
                let handlers = machine.handlerNames.map { handler -> JSONValue in
                    .object(["name": .text(handler), "dueInMs": .natural(left(until: machine.dueTime(of: handler)))])
                }
                let registrations = machine.registrationNames.map { registration -> JSONValue in
                    .object([
                        "name": .text(registration),
                        "lapsesInMs": .natural(left(until: machine.lapse(of: registration))),
                    ])
                }
                return .object([
                    "name": .text(name), "handlers": .array(handlers), "registrations": .array(registrations),
                ])
            })
    }

    /// Returns the overview as lines for people.
    func lines(sessions: [Session]) -> [String] {
        var lines = applications.map { application in
            let session = sessions.first { $0.id == application.session }
            let who = session.map { "\($0.role) pid \($0.process.pid)" } ?? "session \(application.session)"
            return "life      \(who): \(application.state)"
                + (application.isOwn ? "" : ", reported by another participant")
        }
        // Service levels depend on the states of applications; without any state, the table is only the configuration.
        for state in applications.isEmpty ? [] : Settings.levelledStates {
            let reduced = Service.allCases.compactMap { service -> String? in
                let level = levels.level(of: service, in: ServiceConditions(state))
                return level == .normal ? nil : "\(service) \(level)"
            }
            if !reduced.isEmpty { lines.append("levels    \(state): " + reduced.joined(separator: ", ")) }
        }
        for (name, machine) in keepAlives {
            let due = machine.handlerNames.map { "\($0) in \(time(until: machine.dueTime(of: $0)))" }
            let lapses = machine.registrationNames.map {
                "\($0) lapses in \(time(until: machine.lapse(of: $0)))"
            }
            lines.append("alive     \(name): " + (due + lapses).joined(separator: ", "))
        }
        return lines
    }

    private func left(until instant: BootInstant?) -> UInt64 {
        instant.map { now.duration(to: $0).wholeMilliseconds } ?? 0
    }

    private func time(until instant: BootInstant?) -> String {
        DurationText.write(.seconds(left(until: instant) / 1000))
    }
}
