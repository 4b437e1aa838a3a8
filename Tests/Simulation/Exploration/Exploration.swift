internal import CoreAPI

/// Explores every state that a small group can reach, with all events in every order.
package struct Exploration {
    /// The outcome of an exploration.
    package struct Report: Sendable {
        /// The number of different states.
        package var stateCount = 0
        /// The number of actions possible in these states.
        package var actionCount = 0
        /// True if every state was explored.
        package var isComplete = false
        /// The first broken rule, with the circumstances; nil if there is none.
        package var violation: String?
        /// The shortest sequence of actions that leads there.
        package var timelineEvent: [String] = []
    }

    /// The participants, and the number of faults.
    package struct Setting: Sendable {
        package let name: String
        let roles: [SessionRole]
        /// The Main that was started to take over.
        var takingOver: Int?
        var deaths = 0
        var freezes = 0
        /// The number of activities that the Executors begin.
        var activities = 0
        /// True if a Main may stop waiting for the activities.
        var insists = false
        /// The number of times that a Main may come to rest.
        var rests = 0
        /// True if the activity is a call that the Mains take.
        var isMoving = false

        /// The settings that are explored.
        package static let all =
            [
                Setting(name: "Main and an Executor, an activity", roles: [.main, .executor], activities: 1),
                Setting(
                    name: "an insisting Main and an Executor, an activity", roles: [.main, .executor], activities: 1,
                    insists: true),
                Setting(
                    name: "two Executors, an activity, a freeze", roles: [.executor, .executor], freezes: 1,
                    activities: 1),
                Setting(
                    name: "Main and an Executor, an activity, a freeze", roles: [.main, .executor], freezes: 1,
                    activities: 1),
                Setting(
                    name: "Main and an Executor, a call that moves", roles: [.main, .executor], activities: 1,
                    isMoving: true),
                Setting(
                    name: "Main and an Executor, a call that moves, a freeze", roles: [.main, .executor], freezes: 1,
                    activities: 1, isMoving: true),
                Setting(
                    name: "Main and an Executor, a call that moves, a death", roles: [.main, .executor], deaths: 1,
                    activities: 1, isMoving: true),
                Setting(
                    name: "Main and two Executors, a call that moves", roles: [.main, .executor, .executor],
                    activities: 1,
                    isMoving: true),
                Setting(name: "Main and two Executors, a death", roles: [.main, .executor, .executor], deaths: 1),
                Setting(
                    name: "Main and two Executors, an activity", roles: [.main, .executor, .executor], activities: 1),
                Setting(
                    name: "an insisting Main and two Executors, an activity", roles: [.main, .executor, .executor],
                    activities: 1, insists: true),
                Setting(
                    name: "two Mains and an Executor, a death", roles: [.main, .main, .executor], takingOver: 1,
                    deaths: 1),
                Setting(
                    name: "two insisting Mains and an Executor, an activity", roles: [.main, .main, .executor],
                    takingOver: 1, activities: 1, insists: true),
                Setting(
                    name: "Main and two Executors, an activity, a death", roles: [.main, .executor, .executor],
                    deaths: 1,
                    activities: 1),
                Setting(
                    name: "Main and two Executors, an activity, a freeze", roles: [.main, .executor, .executor],
                    freezes: 1, activities: 1),
                Setting(
                    name: "Main and two Executors, a call that moves, a death", roles: [.main, .executor, .executor],
                    deaths: 1, activities: 1, isMoving: true),
                Setting(name: "Main and two Executors, a freeze", roles: [.main, .executor, .executor], freezes: 1),
                Setting(
                    name: "two Mains and an Executor, a freeze", roles: [.main, .main, .executor], takingOver: 1,
                    freezes: 1
                ),
            ] + resting

        /// The settings with a Main that rests.
        package static let resting = [
            Setting(name: "a Main that rests and an Executor", roles: [.main, .executor, .holder], rests: 2),
            Setting(
                name: "a Main that rests and an Executor, a death", roles: [.main, .executor, .holder], deaths: 1,
                rests: 1),
            Setting(
                name: "a Main that rests and an Executor, a freeze", roles: [.main, .executor, .holder], freezes: 1,
                rests: 1),
            Setting(
                name: "a Main that rests and one that takes over, a freeze", roles: [.main, .main, .holder],
                takingOver: 1, freezes: 1, rests: 1),
            Setting(
                name: "a Main that rests and one that does not take over, a freeze", roles: [.main, .main, .holder],
                freezes: 1, rests: 1),
            Setting(
                name: "a Main that rests and one that does not take over, a death", roles: [.main, .main, .holder],
                deaths: 1, rests: 1),
        ]
    }

    /// The mutants that some state must expose: those of the ownership machines.
    package static let mutants =
        Mutant.all.filter { names.contains($0.name) } + Mutant.ofActivities + Mutant.ofRest + Mutant.ofBatons

    /// The mutants that no schedule exposes.
    package static var unscheduledMutants: [Mutant] {
        let scheduled = Set(Mutant.every.map(\.name))
        return mutants.filter { !scheduled.contains($0.name) }
    }

    /// The settings in which the mutants are found soonest, so that a check need not go through all.
    package static let placesFound = [
        "a holder that releases by the epoch alone": "a Main that rests and one that takes over, a freeze",
        "a resume that does not ask whether the holder still owns": "a Main that rests and an Executor, a death",
        "a holder that takes past the request of another Main": "a Main that rests and one that takes over, a freeze",
        "a holder that does not answer": "a Main that rests and one that does not take over, a death",
        "a holder that does not release for a Main that does not resume":
            "a Main that rests and one that does not take over, a freeze",
        "a take-over that does not ask whether the ownership has moved":
            "a Main that rests and one that does not take over, a freeze",
        "a withdrawal that does not ask whether the offer was taken":
            "a Main that rests and one that takes over, a freeze",
    ]

    private static let names: Set<String> = [
        "a core that starts without asking whether it still may", "a release that does not ask whose the ownership is",
        "an acquisition in place of an owner", "an acquisition past the request of a Main",
        "an owner that does not answer", "a holder that is believed while it is frozen",
        "a take-over that does not ask whether the challenge was answered",
        "a request that outlives the silence of its Main", "a deadline of a request that never comes",
        "a Main that does not wait for a core that is stopping", "a core that is not told to stop",
        "a death that is not looked for", "a kill that was not announced",
    ]

    private let setting: Setting
    private let mutant: Mutant?
    private let limit: Int

    /// - Parameter limit: The number of states after which to give up.
    package init(_ setting: Setting, damagedBy mutant: Mutant? = nil, limit: Int = 5_000_000) {
        self.setting = setting
        self.mutant = mutant
        self.limit = limit
    }

    /// Visits every state in breadth-first order, until a rule is broken.
    package func run() -> Report {
        var report = Report()
        var start = Model(setting, damagedBy: mutant)
        var origins: [StateKey: (before: StateKey, action: Model.Action)] = [:]
        let first = start.key()
        var seen: Set<StateKey> = [first]
        var frontier = [(start, first)]
        while !frontier.isEmpty, seen.count < limit {
            var next: [(Model, StateKey)] = []
            for (model, key) in frontier {
                for action in model.actions {
                    report.actionCount += 1
                    var later = model
                    later.happen(action)
                    let laterKey = later.key()
                    if let violation = later.violation {
                        report.violation = violation
                        report.stateCount = seen.count
                        report.timelineEvent = Self.timelineEvent(of: action, from: key, origins)
                        return report
                    }
                    guard seen.insert(laterKey).inserted else { continue }
                    if seen.count < 10_000, let field = later.unknownField {
                        report.violation = "the exploration does not know the field \(field)"
                        return report
                    }
                    origins[laterKey] = (key, action)
                    next.append((later, laterKey))
                }
            }
            frontier = next
        }
        report.stateCount = seen.count
        report.isComplete = frontier.isEmpty
        return report
    }

    private static func timelineEvent(
        of last: Model.Action, from key: StateKey, _ origins: [StateKey: (before: StateKey, action: Model.Action)]
    ) -> [String] {
        var timelineEvent = ["\(last)"]
        var key = key
        while let origin = origins[key] {
            timelineEvent.append("\(origin.action)")
            key = origin.before
        }
        return timelineEvent.reversed()
    }
}
