extension RestingSetting {
    static let faults = RestingSetting(
        name: "a death and a freeze", deaths: 1, freezes: 1,
        landmarks: [
            "Main came to rest", "Main resumed by itself", "Main resumed when it was woken", "Main withdrew its offer",
            "Main acquired again after its holder's end", "Main superseded the holder",
            "Main superseded one that did not hand over", "a push was answered by Main",
            "a push was answered by the Executor", "a release was refused, because Main had resumed",
            "a resume was refused, because the rest was over", "a take-over was refused, because the owner had changed",
            "a wake was repeated", "a withdrawal was refused, because the offer was taken", "an offer was refused",
            "an offer was withdrawn before it was taken", "the Executor acquired past a Main that did not resume",
            "the Executor superseded Main", "the Executor superseded the holder",
            "the holder released for a Main that did not resume", "the holder released for a Main that had ended",
            "the request of a frozen Main was removed",
        ])
    static let twoFreezes = RestingSetting(
        name: "two freezes", freezes: 2,
        landmarks: ["the Executor superseded a Main at rest and its holder", "a push was answered by Main"])
    static let twoDeaths = RestingSetting(
        name: "two deaths", deaths: 2,
        landmarks: ["Main acquired again after its holder's end", "the holder released for a Main that had ended"])
    static let lostSignal = RestingSetting(
        name: "a death, a freeze and a lost signal", deaths: 1, freezes: 1, losses: 1,
        landmarks: ["a wake was repeated", "the Executor acquired past a Main that did not resume"])
    static let twoMains = RestingSetting(
        name: "two Mains, a death and a freeze", third: .secondMain, deaths: 1, freezes: 1,
        landmarks: [
            "the second Main was refused", "the second Main acquired past a Main that did not resume",
            "the second Main superseded the holder", "the second Main came to rest",
        ])
    static let takeOver = RestingSetting(
        name: "a Main that takes over, a death and a freeze", third: .secondMain, takesOver: true, deaths: 1,
        freezes: 1,
        landmarks: [
            "Main handed over", "Main let go of its rest after its holder's end",
            "the second Main superseded one that did not hand over", "the request of a frozen Main was removed",
        ])
    static let takeOverAndLostSignal = RestingSetting(
        name: "a Main that takes over, a freeze and a lost signal", third: .secondMain, takesOver: true, freezes: 1,
        losses: 1, landmarks: ["Main handed over", "a wake was repeated"])

    static let all: [RestingSetting] = [
        .faults, .twoFreezes, .twoDeaths, .lostSignal, .twoMains, .takeOver, .takeOverAndLostSignal,
    ]
}

extension RestingModel {
    static var cases: [ModelCase] {
        func name(of setting: RestingSetting) -> String { "a sleeping owner, \(setting.name)" }
        let designs = RestingSetting.all.map { setting in
            ModelCase(name(of: setting), RestingModel(setting: setting), reaching: setting.landmarks)
        }
        let mutations = RestingMutation.allCases.map { mutation in
            let model = RestingModel(setting: mutation.setting, mutation: mutation)
            return ModelCase(name(of: mutation.setting), model, lacking: mutation.rawValue)
        }
        return designs + mutations
    }
}
