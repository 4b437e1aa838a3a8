/// A number of faults, with a host or without.
struct BatonSetting: Sendable {
    let name: String
    var hasHost = false
    var deaths: UInt8 = 0
    var freezes: UInt8 = 0
    /// How many cores fail before they have used the baton.
    var failures: UInt8 = 1
    /// How often the call is offered.
    var offers: UInt8 = 1

    static let withoutHost = BatonSetting(name: "no host, a death and a freeze", deaths: 1, freezes: 1)
    static let freezesWithoutHost = BatonSetting(name: "no host, two freezes", freezes: 2)
    static let withHost = BatonSetting(name: "a host, a death and a freeze", hasHost: true, deaths: 1, freezes: 1)
    static let deathsWithHost = BatonSetting(
        name: "a host, two deaths and a freeze", hasHost: true, deaths: 2, freezes: 1)
    static let twoOfEachWithoutHost = BatonSetting(name: "no host, two deaths and two freezes", deaths: 2, freezes: 2)
    static let freezesWithHost = BatonSetting(
        name: "a host, a death and two freezes", hasHost: true, deaths: 1, freezes: 2, failures: 0)
    static let movesAgain = BatonSetting(
        name: "no host, a death, two freezes, and a second offer", deaths: 1, freezes: 2, failures: 0, offers: 2)
    static let movesAgainWithHost = BatonSetting(
        name: "a host, a death, a freeze, and a second offer", hasHost: true, deaths: 1, freezes: 1, failures: 0,
        offers: 2)

    /// A fault after each step of the protocol, and each possible end of a baton.
    var landmarks: [String] {
        var landmarks = ["goes on", "ended as lost", "at rest with the call"]
        landmarks += BatonState.participants.map { "applied by \(BatonState.names[$0])" }
        if offers > 1 { landmarks += ["applied when it had moved before"] }
        if failures > 0 { landmarks += ["applied behind a core that failed"] }
        if deaths > 0 { landmarks += ["applied when the one that gave it was dead"] }
        if deaths > 0 { landmarks += (1...8).map { "a death behind step \($0)" } }
        if freezes > 0 { landmarks += (1...8).map { "a freeze behind step \($0)" } }
        if deaths + freezes > 2 { landmarks += ["expired", "failed"] }
        return landmarks
    }

    static let all: [BatonSetting] = [
        .withoutHost, .freezesWithoutHost, .withHost, .deathsWithHost, .twoOfEachWithoutHost, .freezesWithHost,
        .movesAgain, .movesAgainWithHost,
    ]
}

extension BatonMutation {
    /// The setting in which the search finds it.
    var setting: BatonSetting {
        switch self {
        case .depositFirst, .depositBound, .hostKeeps, .hostViewIsNew, .hostWatches: .withHost
        case .oneAtATime, .expireItsOwn: .movesAgain
        case .lifetime: .deathsWithHost
        case .applyRecordGuard, .expireCommit: .freezesWithoutHost
        default: .withoutHost
        }
    }
}

extension BatonModel {
    /// The design in each setting, then each of its mutations.
    static var cases: [ModelCase] {
        func name(of setting: BatonSetting) -> String { "a call that moves, \(setting.name)" }
        let designs = BatonSetting.all.map { setting in
            ModelCase(name(of: setting), BatonModel(setting: setting), reaching: setting.landmarks)
        }
        let mutations = BatonMutation.allCases.map { mutation in
            let model = BatonModel(setting: mutation.setting, lacks: mutation)
            return ModelCase(name(of: mutation.setting), model, lacking: mutation.rawValue)
        }
        return designs + mutations
    }
}
