import CoreAPI
import Mailboxes
import Testing

@testable import Coordination

/// A participant's goals concerning ownership.
struct DemandPolicyTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)
    private let epoch = Revision(rawValue: 20)

    private func main() -> DemandPolicy { DemandPolicy(isMain: true, budget: .seconds(30), linger: .milliseconds(250)) }

    private func executor() -> DemandPolicy {
        DemandPolicy(isMain: false, budget: .seconds(30), linger: .milliseconds(250))
    }

    private func after(_ milliseconds: Int) -> BootInstant { start.advanced(by: .milliseconds(milliseconds)) }

    private let refusal = Refusal(owner: nil, session: SessionID(rawValue: 9), name: "another")

    private func loss(to role: SessionRole) -> Loss {
        let record = OwnerRecord(
            role: role, state: .starting, name: "another",
            process: ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 2, startTime: 1), since: start)
        let entry = Entry(
            key: OwnershipKey.owner, value: record.bytes, revision: Revision(rawValue: 30),
            creationRevision: Revision(rawValue: 30), lifetime: .session, origin: SessionID(rawValue: 9))
        return Loss(epoch: epoch, successor: Standing(entry))
    }

    @Test("C14: a Main that lost to an Executor seeks on, and gives way to the Main that it then finds")
    func refusedAfterItsCoreRan() {
        var main = main()
        main.start(takingOver: false)
        main.coreStarted(at: start)
        main.notice(loss(to: .executor), hasYielded: false)
        #expect(main.intent == .own)
        #expect(!main.isSuperseded)

        let gaveWay = main.notice(refusal)

        #expect(gaveWay)
        #expect(main.isSuperseded)
        #expect(!main.intent.wantsOwnership)
    }

    @Test("C14: a refusal of a Main that is being started belongs to the caller that started it")
    func refusedWhileStarting() {
        var main = main()
        main.start(takingOver: false)
        let gaveWay = main.notice(refusal)
        #expect(!gaveWay)
        #expect(main.intent == .own)
        #expect(!main.isSuperseded)
    }

    @Test("C14, C17: a Main that is started again while its core runs gives way as any that runs")
    func startedWhileItsCoreRuns() {
        var main = main()
        main.start(takingOver: false)
        main.coreStarted(at: start)

        main.start(takingOver: true, insisting: true, isRunning: true)

        #expect(main.goal(holding: epoch, core: nil, at: start) == .own)
        #expect(!main.insists)
        #expect(main.coreFailed("it broke", of: epoch, at: start)?.length == .seconds(1))
        main.notice(loss(to: .executor), hasYielded: false)
        let gaveWay = main.notice(refusal)
        #expect(gaveWay)
        #expect(main.isSuperseded)
    }

    @Test("C14: a Main takes over once, when it is told to")
    func takesOverOnce() {
        var main = main()
        main.start(takingOver: true)
        #expect(main.goal(holding: nil, core: nil, at: start) == .takeOver)
        main.coreStarted(at: start)
        #expect(main.goal(holding: epoch, core: nil, at: start) == .own)
    }

    @Test("C14: a Main that lost to another Main gives way")
    func lostToAMain() {
        var main = main()
        main.start(takingOver: false)
        main.notice(loss(to: .main), hasYielded: false)
        #expect(main.isSuperseded)
        #expect(!main.intent.wantsOwnership)
    }

    @Test("C9: after a core's failure an Executor waits, twice as long after each further failure in a row")
    func restsAfterFailures() {
        var executor = executor()
        #expect(executor.coreFailed("first", of: epoch, at: start)?.until == after(1000))
        #expect(executor.coreFailed("again", of: epoch, at: start) == nil)
        #expect(executor.coreFailed("second", of: Revision(rawValue: 21), at: start)?.until == after(2000))
        executor.coreStarted(at: start)
        #expect(executor.coreFailed("third", of: Revision(rawValue: 22), at: start)?.until == after(1000))
    }

    @Test("C8: a Main rests after each failure of a core that had run, and gives up after ten in a row")
    func mainRests() {
        var main = main()
        main.start(takingOver: false)
        main.coreStarted(at: start)
        let rests = (1...9).map { number in
            let rest = main.coreFailed("it broke", of: Revision(rawValue: 20 + UInt64(number)), at: start)
            #expect(main.problem?.sentence == "it broke; the next one starts in \(rest?.length ?? .zero)")
            return rest?.length
        }
        #expect(rests == [1, 2, 4, 8, 16, 30, 30, 30, 30].map { .seconds($0) })
        #expect(main.intent == .own)

        #expect(main.coreFailed("it broke", of: Revision(rawValue: 30), at: start) == nil)
        #expect(main.intent == .nothing(because: .coreFailed("it broke")))
        #expect(main.problem?.sentence == "it broke; no other is started after 10 failures in a row")
    }

    @Test("C8: a core that only starts and fails again goes on with the row; one that ran for 30 s begins a new one")
    func steadyRunBeginsANewRow() {
        var main = main()
        main.start(takingOver: false)
        main.coreStarted(at: start)
        #expect(main.coreFailed("1", of: Revision(rawValue: 21), at: after(1))?.length == .seconds(1))
        main.coreStarted(at: after(1000))
        #expect(main.coreFailed("2", of: Revision(rawValue: 22), at: after(30_999))?.length == .seconds(2))
        main.coreStarted(at: after(40_000))
        #expect(main.coreFailed("3", of: Revision(rawValue: 23), at: after(70_000))?.length == .seconds(1))
    }

    @Test("C8: a Main does not start a core again that has ended by itself, nor one whose first start failed")
    func endsOfAMain() {
        var main = main()
        main.start(takingOver: false)
        #expect(main.coreFailed("no network", of: Revision(rawValue: 21), at: start) == nil)
        #expect(!main.intent.wantsOwnership)
        main.start(takingOver: false)
        main.coreStarted(at: start)
        #expect(main.coreFailed("it ended", isFinal: true, of: Revision(rawValue: 22), at: start) == nil)
        #expect(!main.intent.wantsOwnership)
    }

    @Test("C9: an Executor whose budget is used up seeks no more until no call waits here")
    func budgetIsUsedUp() {
        var executor = executor()
        executor.needs[1] = DemandPolicy.Need(insists: false)
        #expect(executor.goal(holding: nil, core: nil, at: start) == .own)
        executor.coreBegins(at: start)
        let core = LocalCore(epoch: epoch, phase: .running)
        #expect(executor.goal(holding: epoch, core: core, at: after(29_999)) == .own)
        #expect(!executor.goal(holding: epoch, core: core, at: after(30_000)).wantsOwnership)
        #expect(!executor.goal(holding: nil, core: nil, at: after(30_100)).wantsOwnership)
        executor.needs[1] = nil
        #expect(!executor.goal(holding: nil, core: nil, at: after(30_200)).wantsOwnership)
        executor.needs[2] = DemandPolicy.Need(insists: true)
        #expect(executor.goal(holding: nil, core: nil, at: after(30_300)) == .insist)
    }

    @Test("C17: an Executor's core that begins an activity goes on until that is seen, though its budget is used up")
    func beginningKeepsTheCore() {
        var executor = executor()
        executor.needs[1] = DemandPolicy.Need(insists: false)
        _ = executor.goal(holding: nil, core: nil, at: start)
        executor.coreBegins(at: start)
        let core = LocalCore(epoch: epoch, phase: .running)
        #expect(executor.goal(holding: epoch, core: core, isBeginning: true, at: after(30_000)) == .own)
        let activities = ActivitiesRecord(epoch: epoch, activities: [Activity(.call, id: "1", begun: after(29_999))])
        #expect(executor.goal(holding: epoch, core: core, activities: activities, at: after(30_001)) == .own)
        #expect(!executor.goal(holding: epoch, core: core, at: after(30_002)).wantsOwnership)
    }

    @Test("C2: a core that was wanted once is wanted no more when its ownership has gone to another")
    func aNeedEndsWithItsOwnership() {
        var executor = executor()
        executor.needs[1] = DemandPolicy.Need(insists: true)
        #expect(executor.goal(holding: nil, core: nil, at: start) == .insist)
        executor.coreBegins(at: start)
        executor.needs[1]?.epoch = epoch
        #expect(executor.goal(holding: epoch, core: LocalCore(epoch: epoch, phase: .running), at: after(1)) == .own)
        #expect(!executor.goal(holding: nil, core: nil, at: after(2)).wantsOwnership)
        #expect(executor.needs.isEmpty)
    }

    @Test("C9: a call that is slow to look does not start a core again whose run has served all calls")
    func servedCallsNeedNoCore() throws {
        var executor = executor()
        executor.needs[1] = DemandPolicy.Need(insists: false)
        executor.coreBegins(at: start)
        executor.demand = Demand(of: try QueueKeys(path: "inbox"), in: BootID(high: 1, low: 1))
        let core = LocalCore(epoch: epoch, phase: .running)
        #expect(executor.goal(holding: epoch, core: core, at: after(0)) == .own)
        #expect(!executor.goal(holding: epoch, core: core, at: after(300)).wantsOwnership)
        #expect(!executor.goal(holding: nil, core: nil, at: after(301)).wantsOwnership)
        // The participant has read the store, and there is no answer.
        executor.needs[1] = DemandPolicy.Need(insists: false)
        #expect(executor.goal(holding: nil, core: nil, at: after(302)) == .own)
    }
}
