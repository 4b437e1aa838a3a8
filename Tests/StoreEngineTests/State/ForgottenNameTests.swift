internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

/// A group in which ever new names are posted continues, and only an observer that is far behind notices.
@Suite("S10, N3: notification names without a state word are forgotten")
struct ForgottenNameTests {
    private static let limit = StoreState.topicLimit
    private let instant = BootInstant(nanoseconds: 1)
    private let session = SessionID(rawValue: 1)

    private func opened() -> StoreState {
        var state = StoreState()
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        state.apply(
            state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant))
        return state
    }

    private func post(_ names: [NotificationName], state word: UInt64? = nil, in state: inout StoreState) throws {
        let transaction = Transaction(operations: names.map { .post($0, state: word) })
        guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else {
            Issue.record("a post that is not recorded")
            return
        }
        state.apply(effect)
    }

    private func names(_ range: Range<Int>) throws -> [NotificationName] {
        try range.map { try NotificationName("name \($0)") }
    }

    /// The bytes of the frames of a state's snapshot.
    private func framesByteCount(of state: StoreState) throws -> Int {
        var chain = JournalChain(salt: 1)
        return try state.fingerprint().reduce(0) { $0 + chain.frame($1, interest: .max).count }
    }

    @Test("S10: the name whose last post is the oldest goes; one with a state word and one that was posted again stay")
    func oldestGoes() throws {
        var state = opened()
        try post(["word"], state: 7, in: &state)
        try post(["old"], in: &state)
        try post(["again"], in: &state)
        try post(names(0..<Self.limit - 3), in: &state)
        try post(["again"], in: &state)
        #expect(state.usage.nameCount == Self.limit)
        #expect(state.topic("old").count == 1)

        try post(["new"], in: &state)
        #expect(state.usage.nameCount == Self.limit)
        #expect(state.topic("old") == .never)
        #expect(state.topic("word").state == 7)
        #expect(state.topic("again").count == 2)
        #expect(state.topic("name 0").count == 1, "younger than the oldest")

        // Names of one commit are forgotten in the order of their bytes, not in that of a dictionary.
        try post(["newer"], in: &state)
        #expect(state.topic("name 0") == .never)
        #expect(state.topic("name 1").count == 1)
        let size = state.snapshotByteCount
        #expect(size == (try framesByteCount(of: state)))
    }

    @Test("S10: names go by their bytes too, and the usage tells both")
    func bytesCount() throws {
        var state = opened()
        let long = String(repeating: "n", count: 500)
        for number in 0..<9_000 { try post([try NotificationName("\(number)" + long)], in: &state) }
        #expect(state.usage.nameByteCount <= 4 << 20)
        #expect((8_000..<9_000).contains(state.usage.nameCount))
        #expect(state.topic(try NotificationName("0" + long)) == .never)
    }

    @Test(
        "S10: a commit for which no name can be forgotten is refused, and a name that is there is posted all the same")
    func refused() throws {
        var state = opened()
        try post(names(0..<Self.limit), state: 1, in: &state)
        let error = #expect(throws: SharedCoreError.self) { try post(["more"], in: &state) }
        #expect(error?.code == .limitExceeded)
        try post(["name 5"], state: 0, in: &state)
        try post(["more"], in: &state)
        #expect(state.topic("name 5") == .never)

        // The names that a commit posts cannot make room for each other.
        #expect(throws: SharedCoreError.self) { try post(["more", "and more"], in: &state) }
    }

    @Test("S10: a replica that is made of a snapshot in between forgets the same names", arguments: Seed.several(2))
    func replicasAgree(seed: Seed) throws {
        var random = SeededRandom(seed)
        var state = opened()
        try post(names(0..<Self.limit - 10), in: &state)
        var replica = state
        for step in 0..<120 {
            let some = try (0..<Int.random(in: 1...5, using: &random)).map { _ in
                let isNew = random.once(in: 2)
                let range = isNew ? Self.limit..<Self.limit + 400 : 0..<Self.limit
                return try NotificationName("name \(Int.random(in: range, using: &random))")
            }
            let transaction = Transaction(
                operations: some.map { .post($0, state: random.once(in: 3) ? random.next() % 2 : nil) })
            guard case .record(let effect, _) = try state.decide(transaction, of: session, at: instant) else { return }
            state.apply(effect)
            replica.apply(effect)
            #expect(replica.snapshotByteCount == state.snapshotByteCount)
            guard step.isMultiple(of: 60) else { continue }
            let snapshot = try replica.fingerprint()
            #expect(try state.fingerprint() == snapshot)
            replica = try #require(try StoreState.restored(from: snapshot, limits: Limits()))
            #expect(replica.snapshotByteCount == state.snapshotByteCount)
        }
        #expect(try state.fingerprint() == replica.fingerprint())
        #expect(state.forgottenNames.lastPost > .zero)
    }

    @Test("N3, N4: an observer that keeps up hears each post once, also of a name that was forgotten between")
    func observerKeepsUp() throws {
        var state = opened()
        var cursor = ObservationCursor(name: "seldom", in: state)
        var quiet = ObservationCursor(name: "never posted", in: state)
        var heard: UInt64 = 0
        for round in 0..<3 {
            for _ in 0...round { try post(["seldom"], in: &state) }
            heard += cursor.next(in: state)?.count ?? 0
            #expect(heard == UInt64((round + 1) * (round + 2) / 2))
            let count = state.topic("seldom").count
            for part in stride(from: 0, to: Self.limit, by: Self.limit / 8) {
                let base = round * Self.limit + part
                try post(names(base..<base + Self.limit / 8), in: &state)
                #expect(cursor.next(in: state) == nil)
                #expect(quiet.next(in: state) == nil)
            }
            #expect(state.topic("seldom") == .never)
            try post(["seldom"], in: &state)
            #expect(state.topic("seldom").count > count, "the count of a name never falls")
            heard += cursor.next(in: state)?.count ?? 0
            heard -= 1
        }
        #expect(cursor.next(in: state) == nil)
    }

    @Test("N3: an observer that did not look while its name was posted and forgotten is woken")
    func observerIsBehind() throws {
        var state = opened()
        var cursor = ObservationCursor(name: "seldom", in: state)
        try post(["seldom"], in: &state)
        try post(names(0..<Self.limit), in: &state)
        #expect(state.topic("seldom") == .never)
        let restored = try #require(try StoreState.restored(from: state.fingerprint(), limits: Limits()))
        var elsewhere = cursor
        for delivery in [cursor.next(in: state), elsewhere.next(in: restored)] {
            #expect(delivery?.count == 1)
            #expect(delivery?.origin == SessionID(rawValue: 0))
        }
        #expect(cursor.next(in: state) == nil, "once")
        try post(["seldom"], in: &state)
        #expect(cursor.next(in: state)?.count == 1)
    }
}
