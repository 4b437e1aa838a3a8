/// A number of faults.
struct HubBatonSetting: Sendable {
    let name: String
    var thirdIsAtFiles = false
    /// True if the third is of a release without batons.
    var thirdIsOlder = false
    var deaths: UInt8 = 0
    var freezes: UInt8 = 0
    var cuts: UInt8 = 0
    var restarts: UInt8 = 0
    var hubFreezes: UInt8 = 0
    var forgeries: UInt8 = 0
    /// True for a setting with so many states that only `make at-length` visits them.
    var isLong = false

    static let restartAndDeath = HubBatonSetting(name: "a new hub and a death", deaths: 1, restarts: 1)
    static let restartAndStop = HubBatonSetting(name: "a new hub and a stop of the hub", restarts: 1, hubFreezes: 1)
    static let restartStopAndFreeze = HubBatonSetting(
        name: "a new hub, a stop of the hub and a freeze", freezes: 1, restarts: 1, hubFreezes: 1, isLong: true)
    static let cutAndDeath = HubBatonSetting(name: "a cut and a death", deaths: 1, cuts: 1)
    static let twoCuts = HubBatonSetting(name: "two cuts", cuts: 2)
    static let twoCutsAndFreeze = HubBatonSetting(name: "two cuts and a freeze", freezes: 1, cuts: 2, isLong: true)
    static let files = HubBatonSetting(
        name: "the third at the files, a stop of the hub and a death", thirdIsAtFiles: true, deaths: 1, hubFreezes: 1)
    static let filesAndFreeze = HubBatonSetting(
        name: "the third at the files, a stop of the hub and a freeze", thirdIsAtFiles: true, freezes: 1, hubFreezes: 1)
    static let filesAndCut = HubBatonSetting(
        name: "the third at the files, two stops of the hub and a cut", thirdIsAtFiles: true, cuts: 1, hubFreezes: 2,
        isLong: true)
    static let forgery = HubBatonSetting(
        name: "a forged baton, a death and a freeze", deaths: 1, freezes: 1, forgeries: 1)

    static let older = HubBatonSetting(
        name: "an older third, a cut and a death", thirdIsOlder: true, deaths: 1, cuts: 1)
    static let olderAndFreezes = HubBatonSetting(name: "an older third and two freezes", thirdIsOlder: true, freezes: 2)

    /// A fault after each step of the protocol, and each possible end of a baton.
    var landmarks: [String] {
        var landmarks = ["goes on", "ended as lost", "at rest with the call"]
        landmarks += [HubBatonState.oldOwner, HubBatonState.newOwner].map { "applied by \(HubBatonState.names[$0])" }
        for (count, fault) in [
            (deaths, "a death"), (freezes, "a freeze"), (cuts, "a cut"), (hubFreezes, "a stop of the hub"),
            (restarts, "a new hub"),
        ] where count > 0 {
            landmarks += (1...8).map { "\(fault) behind step \($0)" }
        }
        if restarts > 0 { landmarks += ["failed"] }
        if thirdIsOlder { landmarks += ["an older owner ended the call of a baton", "a baton without an open call"] }
        if cuts > 0 { landmarks += ["stopped when it was cut off", "unknown"] }
        return landmarks
    }

    static let all: [HubBatonSetting] = [
        .restartAndDeath, .restartAndStop, .restartStopAndFreeze, .cutAndDeath, .twoCuts, .twoCutsAndFreeze, .files,
        .filesAndFreeze, .filesAndCut, .forgery, .older, .olderAndFreezes,
    ]
}

extension HubBatonMutation {
    /// The setting in which the search finds it.
    var setting: HubBatonSetting {
        switch self {
        case .keepGuard, .applyRecordGuard, .expireCommit, .oldOwnerWatches, .ownsAgain, .hearsFirst: .forgery
        case .keepBound, .fetchBound, .endsByTime: .twoCuts
        case .refreshes, .offerGuard, .applyEpochGuard, .learnsOfIt, .fetchGuard:
            .filesAndFreeze
        case .ownTime: .restartAndStop
        case .openCalls: .older
        default: .cutAndDeath
        }
    }
}

extension HubBatonModel {
    /// The design in each setting, then each of its mutations.
    static var cases: [ModelCase] {
        func name(of setting: HubBatonSetting) -> String { "a call through a hub, \(setting.name)" }
        let designs = HubBatonSetting.all.map { setting in
            ModelCase(
                name(of: setting), HubBatonModel(setting: setting), reaching: setting.landmarks,
                isLong: setting.isLong)
        }
        let mutations = HubBatonMutation.allCases.map { mutation in
            let model = HubBatonModel(setting: mutation.setting, lacks: mutation)
            return ModelCase(name(of: mutation.setting), model, lacking: mutation.rawValue)
        }
        return designs + mutations
    }
}

extension HubBatonModel.Step: CustomStringConvertible {
    var description: String {
        let names = HubBatonState.names
        return switch self {
        case .ask: "1 the new owner asks"
        case .quiet: "2 the core of the old owner stops and gives the baton"
        case .keep: "3 the hub gets the baton of the old owner"
        case .forge: "a session that does not own sends the hub a baton"
        case .hearKept: "3 the old owner hears the hub's answer"
        case .keepTimedOut: "3 the old owner does not wait longer for the hub"
        case .offer: "4 the old owner commits the release with the offer"
        case .hearOffer: "4 the old owner hears that it is committed"
        case .release: "4 the old owner commits the release alone"
        case .acquire(let number): "5 \(names[number]) acquires"
        case .supersede(let number): "5 \(names[number]) supersedes the owner"
        case .removeRequest(let number): "\(names[number]) removes the request of a silent one"
        case .look(let number): "\(names[number]) looks for a baton"
        case .fetch(let number): "6 the hub answers \(names[number])"
        case .hearFetched(let number): "6 \(names[number]) hears the hub's answer"
        case .fetchTimedOut(let number): "6 \(names[number]) does not wait longer for the hub"
        case .fail(let number): "\(names[number]) commits that the baton has failed"
        case .endLost(let number): "\(names[number]) commits the end of lost calls and runs"
        case .apply(let number): "7 \(names[number]) commits the application"
        case .hearApplied(let number): "7 \(names[number]) hears that it is committed"
        case .activate(let number): "8 \(names[number]) sends"
        case .see: "the hub sees what stands"
        case .letGo: "the hub lets go of the baton"
        case .settle: "8 the old owner hears what became of its baton"
        case .expire: "the old owner commits that its baton has expired"
        case .learn(let number): "\(names[number]) learns that it does not own"
        case .stopInDoubt(let number): "\(names[number]) stops its core, since its session may be over"
        case .renew(let number): "the hub hears of \(names[number])"
        case .giveUp(let number): "\(names[number]) releases what it has stopped for"
        case .hangUp(let number): "\(names[number]) ends the call over the network"
        case .leave(let number): "\(names[number]) hears that its session is over"
        case .die(let number): "\(names[number]) dies"
        case .freeze(let number): "\(names[number]) freezes"
        case .thaw(let number): "\(names[number]) thaws"
        case .cutOff(let number): "\(names[number]) is cut off"
        case .comeBack(let number): "\(names[number]) comes back"
        case .reap(let number): "the end of the session of \(names[number]) is recorded"
        case .freezeHub: "the hub is stopped"
        case .thawHub: "the hub continues"
        case .restartHub: "the hub is started anew"
        case .tick: "time passes"
        }
    }
}
