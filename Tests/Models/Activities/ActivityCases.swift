extension ActivitySetting {
    private static let waits = [
        "Main began an activity", "the Executor began an activity", "a begin was refused, because a Main had asked",
        "an activity ended while a Main waited", "an owner released when its bound had passed", "an owner handed over",
        "a Main that waited for activities insisted", "a Main that insisted interrupted an activity",
        "all calls were served in an activity", "a core was stopped when all calls were served",
        "the policy stopped a core at its bound",
    ]

    static let faults = ActivitySetting(
        name: "a death and a freeze", deaths: 1, freezes: 1,
        landmarks: waits + [
            "the second Executor began an activity", "an owner answered before its end was announced",
            "a frozen owner was killed in an activity", "a frozen owner was superseded in an activity",
        ])
    static let fencing = ActivitySetting(
        name: "fencing, a freeze", freezes: 1, fences: true,
        landmarks: waits + [
            "an owner answered before its end was announced", "a frozen owner was fenced in an activity",
            "a frozen owner was superseded in an activity",
        ])
    static let twoFreezes = ActivitySetting(
        name: "two freezes", freezes: 2, landmarks: waits + ["a frozen owner was killed in an activity"], isLong: true)
    static let twoActivities = ActivitySetting(
        name: "two activities", activities: 2, landmarks: waits)
    static let hang = ActivitySetting(
        name: "a core that does not stop, a freeze", freezes: 1, hangs: 1,
        landmarks: waits + [
            "an owner released with a core that did not stop",
            "the end of an owner whose core did not stop was announced",
        ])
    static let otherClock = ActivitySetting(
        name: "an owner whose clock is behind, a freeze", freezes: 1, isClockBehind: true,
        landmarks: ["the end of an owner with another clock was announced"])
    static let takeOver = ActivitySetting(
        name: "a Main that takes over, a freeze", third: .secondMain, freezes: 1,
        landmarks: waits + ["the second Main began an activity", "a request that waited for activities was replaced"])

    static let all: [ActivitySetting] = [
        .faults, .fencing, .twoFreezes, .twoActivities, .hang, .otherClock, .takeOver,
    ]
}

extension ActivityModel {
    /// The design in each setting, then each of its mutations.
    static var cases: [ModelCase] {
        func name(of setting: ActivitySetting) -> String { "work in progress, \(setting.name)" }
        let designs = ActivitySetting.all.map { setting in
            ModelCase(
                name(of: setting), ActivityModel(setting: setting), reaching: setting.landmarks,
                isLong: setting.isLong)
        }
        let mutations = ActivityMutation.allCases.map { mutation in
            let model = ActivityModel(setting: mutation.setting, mutation: mutation)
            return ModelCase(name(of: mutation.setting), model, lacking: mutation.rawValue)
        }
        return designs + mutations
    }
}
