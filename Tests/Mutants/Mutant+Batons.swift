internal import CoreAPI

extension Mutant {
    /// The defects of a group that carries the bytes of a baton to another machine.
    static let batons: [Mutant] =
        ([
            ("loses what it keeps of a baton", .losesWhatItKeeps),
            ("gives a baton to each session", .answersEachSession),
            ("gives the baton of another epoch", .answersForAnotherEpoch),
            ("lets go of a baton at the first fetch", .letsGoAtTheFirstFetch),
            ("lets go of a baton at the release", .letsGoAtTheRelease),
            ("keeps a baton for each session", .keepsForEachSession),
            ("keeps a baton for each epoch", .keepsForEachEpoch),
            ("keeps the last bytes of a baton", .keepsTheLastBytes),
            ("keeps a baton of any size", .hasNoLimit),
            ("keeps a baton until its time is over", .keepsUntilItsTimeIsOver),
            ("lets go of a baton only when its record is removed", .letsGoOnlyWhenARecordIsRemoved),
        ] as [(String, BatonPlace.Defect)]).map { name, defect in
            Mutant(name, caughtBy: "C25") { $0.baton = defect }
        }
}
