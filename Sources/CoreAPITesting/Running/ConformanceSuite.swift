internal import Platform

/// Every case of the contract that a backend can be tried on.
public enum ConformanceSuite {
    /// The cases in the order of the contract.
    public static let cases: [ConformanceCase] =
        (storeCases + watchCases + notifierCases + sessionCases + processCases + coordinationCases + mailboxCases)
        .sorted {
            $0.place < $1.place
        }

    /// Returns the cases with this id or rule; if there are none, the cases with the text in their title.
    public static func cases(matching pattern: String) -> [ConformanceCase] {
        let named = cases.filter { $0.id == pattern || $0.rule == pattern }
        return named.isEmpty ? cases.filter { $0.title.contains(pattern) } : named
    }

    /// The cases that the variable `SHAREDCORE_TEST_CASES` names by id, rule or title, with commas between them; nil without the
    /// variable. The adapters run no others, so that one case can be tried alone.
    ///
    /// Ends the process if the variable names no case.
    public static let chosenCases: [ConformanceCase]? = OwnProcess.text("SHAREDCORE_TEST_CASES").map { names in
        let chosen = names.split(separator: ",").flatMap { cases(matching: String($0)) }
        precondition(!chosen.isEmpty, "SHAREDCORE_TEST_CASES names no case.")
        return chosen
    }

    private static let storeCases: [ConformanceCase] = [
        ValueCases.all, RevisionCases.all, RestartCases.revisions, ReadCases.all, TransactionCases.all,
        CompareAndSetCases.all, RevisionCases.deletions, LifetimeCases.all, RestartCases.lifetimes, ValueCases.torn,
        LimitCases.all, GroupCases.durability, RestartCases.all, LimitCases.entries, RequestCases.all, ClosingCases.all,
        GroupCases.apart, GroupCases.promises,
    ].flatMap { $0 }

    private static let watchCases: [ConformanceCase] = [
        WatchOrderCases.all, WatchResumptionCases.all, SlowConsumerCases.all, WatchLifeCases.all,
    ].flatMap { $0 }

    private static let notifierCases: [ConformanceCase] = [
        PostCases.all, DeliveryCases.all, CenterCases.all,
    ].flatMap { $0 }

    private static let sessionCases: [ConformanceCase] = [
        SessionCases.all, SimulatedFaultCases.all, ReaderCases.all,
    ].flatMap { $0 }

    private static let processCases: [ConformanceCase] = [
        ManyProcessesCases.all, KilledProcessCases.all, StoppedProcessCases.all, HolderEndCases.all,
        ServerFaultCases.all,
    ].flatMap { $0 }

    private static let coordinationCases: [ConformanceCase] = [
        OwnerCases.all, HandoverCases.all, ActivityCases.all, CallCases.all, BatonCases.all, BatonBytesCases.all,
        SupersededCases.all,
        FrozenHolderCases.all,
        KilledHolderCases.all,
        WaitingCases.all, MessageSourceCases.all, DemandCases.all, BurstCases.all, InboxCases.all, SecondMainCases.all,
        TimelineCases.all, OpenMessageCases.all, MessageChangeCases.all, MainPushCases.all,
        RestCases.all,
    ].flatMap { $0 }

    private static let mailboxCases: [ConformanceCase] = [
        LatestMailboxCases.all, QueueMailboxCases.all, MailboxProcessCases.all,
    ].flatMap { $0 }
}
