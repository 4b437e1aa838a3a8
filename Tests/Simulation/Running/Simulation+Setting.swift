internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// The initial state.
extension Simulation {
    func member(_ number: Int, _ plan: MemberPlan) -> Member {
        let process = ProcessIdentity(bootID: bootID, pid: 0, startTime: 0)
        let name = (plan.role == .main ? "M" : plan.role == .holder ? "H" : "E") + "\(number)"
        return Member(
            plan: plan, number: number, name: name, process: process,
            machine: OwnershipMachine(
                for: Participation(
                    session: SessionID(rawValue: 0), role: plan.role, name: name, process: process),
                rules: rules, seed: 0, at: now),
            demandPolicy: DemandPolicy(
                isMain: plan.role == .main,
                budget: mutant?.budgetIsEndless == true ? .seconds(1000) : schedule.budget,
                linger: .milliseconds(250)),
            random: SeededRandom(seed: schedule.seed ^ (UInt64(number) + 1) &* 0x9e37_79b9_7f4a_7c15))
    }

    mutating func add(_ kind: Schedule.MessageKind, _ number: Int) {
        let content: InboxMessage.Content =
            switch kind {
            case .text: .text(from: "a", to: "b", text: "c")
            case .invitation: .invitation(from: "a", subject: "b", localAddress: "c")
            case .nothingToShow: .nothingToShow
            }
        guard let callID = CallID("m\(number)") else { return }
        messages.append(ServerMessage(callID: callID, content: content))
        messageNumbers[ItemName(callID.text)] = number
    }

    /// Opens the group for a member: a session, and the first read of its watch.
    mutating func open(_ number: Int) {
        let plan = members[number].plan
        guard !members[number].isOpen else { return }
        // No member starts in a killed process.
        guard !members.contains(where: { $0.plan.process == plan.process && $0.isDead }) else { return }
        let process = ProcessIdentity(
            bootID: bootID, pid: pid(of: members[number]), startTime: UInt64(plan.process) + 1)
        let opening = StoreOpening.effect(of: process, plan.role, members[number].name, in: state, at: now)
        applied(opening, by: nil)
        let session = SessionID(rawValue: opening.revision.rawValue)
        let participation = Participation(
            session: session, role: plan.role, name: members[number].name, process: process)
        members[number].session = session
        members[number].process = process
        var rules = rules
        if plan.role == .main { mutant?.changeMainRules?(&rules) }
        rules.takesBatons = plan.takesBatons ? [Self.batonKind] : []
        members[number].machine = OwnershipMachine(
            for: participation, rules: rules, seed: members[number].random.next(), at: now)
        if plan.role == .holder {
            members[number].hold = HolderMachine(for: participation, rules: rules, at: now)
            followDemand(asHolder: number)
        }
        members[number].isOpen = true
        members[number].openedAt = clock
        members[number].runsSince = clock
        say("\(members[number].name) opens the group, in process \(process.pid)")
        for dead in members.indices where members[dead].isDead && members[dead].isOpen && !members[dead].isBuried {
            queue.insert(.judge(.dead(dead, by: number)), at: clock + 400_000_000)
        }
        catchUp(number)
        proceed(number)
    }

    private func pid(of member: Member) -> Int32 {
        member.reusedNumber ?? Int32(100 + member.plan.process)
    }
}

/// Creates the effect of a participant that joins.
enum StoreOpening {
    static func effect(
        of process: ProcessIdentity, _ role: SessionRole, _ name: String, in state: StoreState, at now: BootInstant
    ) -> Effect {
        let description = SessionDescription(role: role, name: name)
        return state.opening(SessionOpening(process: process, description: description), at: now)
    }
}

/// A store that only describes itself: the inbox needs it to build transactions, which the simulation commits.
struct StoreOnPaper: SharedStore {
    let session = Session(
        id: SessionID(rawValue: 0),
        process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0), role: .tool, name: "",
        openedAt: BootInstant(nanoseconds: 0))
    let capabilities = Capabilities(backend: "simulation", features: [], durability: .process, limits: Limits())

    private var unused: SharedCoreError {
        SharedCoreError(.closed, "The simulation commits by itself.", at: "simulation")
    }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? { throw unused }
    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        throw unused
    }
    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit { throw unused }
    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch { throw unused }
    func sync() async throws(SharedCoreError) { throw unused }
    func sessions() async throws(SharedCoreError) -> [Session] { throw unused }
    func close() async {}
}
