internal import CoreAPI
internal import Testing

@testable internal import StoreEngine
@testable internal import ZMQBackend

/// The state of the baton that a hub keeps (contract C25).
@Suite("Hub: the baton")
struct HubBatonTests {
    private static let owner = SessionID(rawValue: 7)
    private static let main = SessionID(rawValue: 8)
    private static let epoch = Revision(rawValue: 42)
    private static let next = Revision(rawValue: 50)

    /// The owner of the baton's epoch owns.
    private static let owned = HubBaton.Ownership(session: owner, epoch: epoch, offered: nil)
    /// No session owns, and the baton is offered.
    private static let offered = HubBaton.Ownership(offered: epoch)
    /// The next owner owns, and the baton is offered.
    private static let taken = HubBaton.Ownership(session: main, epoch: next, offered: epoch)

    private func kept(for lifetime: Duration = .seconds(10)) throws -> HubBaton {
        var baton = HubBaton()
        try baton.keep([1, 2], of: Self.epoch, for: lifetime, by: Self.owner, in: Self.owned)
        return baton
    }

    private func code(_ body: () throws -> Void) -> SharedCoreError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? SharedCoreError)?.code }
    }

    struct State: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let ownership: HubBaton.Ownership
        let stays: Bool

        init(_ title: String, _ ownership: HubBaton.Ownership, stays: Bool) {
            (testDescription, self.ownership, self.stays) = (title, ownership, stays)
        }
    }

    private static let states = [
        State("its epoch owns", owned, stays: true),
        State("its epoch owns for another session", .init(session: main, epoch: epoch), stays: true),
        State("it is offered, and no session owns", offered, stays: true),
        State("it is offered, and the next owner owns", taken, stays: true),
        State("no session owns, and none is offered", .init(), stays: false),
        State("the next owner owns, and none is offered", .init(session: main, epoch: next), stays: false),
        State("the baton of another epoch is offered", .init(offered: next), stays: false),
        State("the same session owns at another epoch", .init(session: owner, epoch: next), stays: false),
    ]

    @Test("C25: a baton stays while its epoch owns or is offered, and goes otherwise", arguments: states)
    func staysOrGoes(state: State) throws {
        var baton = try kept()
        baton.end(in: state.ownership)
        #expect(baton.isEmpty == !state.stays)
    }

    @Test("C25: the owner of the epoch keeps its bytes once, and no other session does")
    func keeps() throws {
        var baton = HubBaton()
        for (session, epoch) in [(Self.main, Self.epoch), (Self.owner, Self.next), (Self.main, Self.next)] {
            let refused = code { try baton.keep([1], of: epoch, for: .seconds(1), by: session, in: Self.owned) }
            #expect(refused == .guardFailed)
        }
        let early = code { try baton.keep([1], of: Self.epoch, for: .seconds(1), by: Self.owner, in: Self.offered) }
        #expect(early == .guardFailed)
        #expect(baton.isEmpty)

        baton = try kept()
        // Keeping the same bytes again changes nothing, and other bytes are refused.
        try baton.keep([1, 2], of: Self.epoch, for: .seconds(60), by: Self.owner, in: Self.owned)
        let others = code { try baton.keep([3], of: Self.epoch, for: .seconds(1), by: Self.owner, in: Self.owned) }
        #expect(others == .invalidArgument)
        #expect(try baton.fetch(of: Self.epoch, under: Self.next, by: Self.main, in: Self.taken) == [1, 2])
        baton.count(.seconds(11))
        #expect(baton.isEmpty)
    }

    @Test("C25: a baton that is not over is not replaced by one of another epoch; one that is over is")
    func replaces() throws {
        var baton = try kept()
        let refused = code { try baton.keep([3], of: Self.next, for: .seconds(1), by: Self.main, in: Self.taken) }
        #expect(refused == .limitExceeded)
        #expect(try baton.fetch(of: Self.epoch, under: Self.next, by: Self.main, in: Self.taken) == [1, 2])
        let after = HubBaton.Ownership(session: Self.main, epoch: Self.next)
        try baton.keep([3], of: Self.next, for: .seconds(1), by: Self.main, in: after)
        let third = HubBaton.Ownership(session: Self.owner, epoch: Revision(rawValue: 60), offered: Self.next)
        #expect(try baton.fetch(of: Self.next, under: third.epoch, by: Self.owner, in: third) == [3])
    }

    @Test("C25: the session that owns while the baton is offered gets it, as often as it asks")
    func fetches() throws {
        var baton = try kept()
        for _ in 0..<2 {
            #expect(try baton.fetch(of: Self.epoch, under: Self.next, by: Self.main, in: Self.taken) == [1, 2])
        }
        for (ownership, epoch, own, session) in [
            (Self.taken, Self.epoch, Self.next, Self.owner), (Self.taken, Self.epoch, Self.epoch, Self.main),
            (Self.taken, Self.next, Self.next, Self.main), (Self.owned, Self.epoch, Self.epoch, Self.owner),
            (Self.offered, Self.epoch, Self.next, Self.main),
        ] {
            let refused = code { _ = try baton.fetch(of: epoch, under: own, by: session, in: ownership) }
            #expect(refused == .guardFailed)
        }
        // A record of another epoch, written by hand, has no bytes.
        let forged = HubBaton.Ownership(session: Self.main, epoch: Self.next, offered: Revision(rawValue: 41))
        #expect(try baton.fetch(of: Revision(rawValue: 41), under: Self.next, by: Self.main, in: forged) == nil)
        #expect(baton.isEmpty)
        #expect(try baton.fetch(of: Self.epoch, under: Self.next, by: Self.main, in: Self.taken) == nil)
    }

    @Test("C25: its time is its lifetime and 500 ms of the hub's running time")
    func time() throws {
        var baton = try kept(for: .seconds(1))
        baton.count(.milliseconds(1499))
        #expect(!baton.isEmpty)
        baton.count(.milliseconds(1))
        #expect(baton.isEmpty)
        // A stopped hub counts 500 ms at most.
        var leases = LeaseTime(from: BootInstant(nanoseconds: 0))
        baton = try kept(for: .seconds(1))
        let counted = leases.count(at: BootInstant(nanoseconds: 60_000_000_000))
        baton.count(try #require(counted))
        #expect(!baton.isEmpty)
    }

    @Test("C25: the hub reads two entries of the state, and ignores the rest of the record")
    func reads() throws {
        func ownership(_ record: [UInt8]?) throws -> HubBaton.Ownership {
            var state = StoreState()
            let now = BootInstant(nanoseconds: 1)
            let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
            let opening = state.opening(
                SessionOpening(process: process, description: SessionDescription()), at: now)
            state.apply(opening)
            var transaction = Transaction()
            transaction.put(".sharedcore/ownership/owner", [1], lifetime: .session)
            if let record { transaction.put(".sharedcore/ownership/baton", record) }
            let session = SessionID(rawValue: opening.revision.rawValue)
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: now) else {
                throw SharedCoreError(.invalidArgument, "The put is not recorded.", at: "test")
            }
            state.apply(effect)
            return try HubBaton.Ownership(state)
        }
        let read = try ownership([9, 0xac, 0x02, 1, 0xff])
        #expect(read.offered == Revision(rawValue: 300))
        #expect(read.session != nil && read.epoch != .zero)
        #expect(try ownership(nil).offered == nil)
        for record in [[], [1], [1, 42], [1, 0x80, 0x80], [1, 42, 2, 0], [1, 42, 0]] as [[UInt8]] {
            #expect(try ownership(record).offered == nil)
        }
    }
}
