internal import CoreAPI
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S10: what a full store keeps for participants")
struct PresenceTests {
    private let instant = BootInstant(nanoseconds: 1)

    /// A full store, and a session in it.
    private func full(_ limits: Limits) throws -> (StoreState, SessionID) {
        var state = StoreState(limits: limits)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = state.opening(SessionOpening(process: process, description: SessionDescription()), at: instant)
        state.apply(opening)
        let session = SessionID(rawValue: opening.revision.rawValue)
        try commit([.put("content", [UInt8](repeating: 1, count: 993), .persistent)], to: &state, of: session)
        return (state, session)
    }

    private func commit(
        _ operations: [Transaction.Operation], to state: inout StoreState, of session: SessionID
    ) throws {
        let decision = try state.decide(Transaction(operations: operations), of: session, at: instant)
        guard case .record(let effect, _) = decision else { return }
        state.apply(effect)
    }

    /// Commits of one kind, each of another key.
    private struct Kind: CustomTestStringConvertible {
        let testDescription: String
        /// The part of the room that it may use, in eighths.
        let share: Int
        let put: @Sendable (_ number: Int, _ byteCount: Int) throws -> [Transaction.Operation]

        init(
            _ name: String, share: Int, key: String, lifetime: Lifetime,
            with further: Transaction.Operation...
        ) {
            testDescription = name
            self.share = share
            put = { number, byteCount in
                let key = try Key(key + String(10_000 + number).dropFirst())
                let others = further.reduce(0) { sum, operation in
                    guard case .put(let key, let value, _) = operation else { return sum }
                    return sum + key.text.utf8.count + value.count
                }
                let size = byteCount - key.text.utf8.count - others
                return [.put(key, [UInt8](repeating: 2, count: max(0, size)), lifetime)] + further
            }
        }
    }

    private static let kinds = [
        Kind("an expectation", share: 8, key: ".sharedcore/expectations/", lifetime: .session),
        Kind("a take of a mailbox", share: 8, key: ".sharedcore/mailboxes/q/t", lifetime: .session),
        Kind("an entry of the timeline", share: 6, key: ".sharedcore/timeline/", lifetime: .persistent),
        Kind("what lives with a session elsewhere", share: 4, key: "s", lifetime: .session),
        Kind("a message of the inbox", share: 0, key: ".sharedcore/inbox/m", lifetime: .expiring(after: .seconds(9))),
        Kind("a message of a mailbox", share: 0, key: ".sharedcore/mailboxes/q/m", lifetime: .persistent),
        Kind("a push", share: 0, key: ".sharedcore/pushes/m", lifetime: .persistent),
        Kind("a push for Main", share: 0, key: ".sharedcore/main-pushes/m", lifetime: .persistent),
        Kind("content", share: 0, key: "c", lifetime: .persistent),
        Kind("what expires", share: 0, key: ".sharedcore/timeline/", lifetime: .expiring(after: .seconds(9))),
    ]

    @Test("The part of 1 MiB and 4,096 entries beyond the limits that each kind of commit may use", arguments: kinds)
    private func bounds(kind: Kind) throws {
        // Commits of 16 KiB, keys included, and of entries without a value.
        for limits in [
            Limits(valueByteCount: 16_384, storeByteCount: 1_000), Limits(valueByteCount: 16_384, entryCount: 1),
        ] {
            var (state, session) = try full(limits)
            let isOfBytes = limits.storeByteCount == 1_000
            let count = (isOfBytes ? 64 : 4_096) / 8 * kind.share
            func put(_ number: Int) throws {
                try commit(kind.put(number, isOfBytes ? 16_384 : 0), to: &state, of: session)
            }
            for number in 0..<count { try put(number) }
            let error = #expect(throws: SharedCoreError.self) { try put(count) }
            #expect(error?.code == .limitExceeded)
            let ending = try #require(state.ending(session, at: instant))
            state.apply(ending)
            // Entries that live with the session go with it.
            if kind.share != 6 { #expect(state.usage.entryCount == 1) }
        }
    }

    @Test("When each kind has used its share, owners still change, and the share of all others is bounded")
    func order() throws {
        var (state, session) = try full(Limits(valueByteCount: 16_384, entryCount: 1))
        func fill(_ kind: Kind) throws -> Int {
            var number = 0
            while true {
                do throws(SharedCoreError) {
                    let decision = try state.decide(
                        Transaction(operations: (try? kind.put(number, 0)) ?? []), of: session, at: instant)
                    guard case .record(let effect, _) = decision else { return number }
                    state.apply(effect)
                } catch {
                    return number
                }
                number += 1
            }
        }
        func fill(_ name: String) throws -> Int {
            try fill(try #require(Self.kinds.first { $0.testDescription == name }))
        }
        #expect(try fill("what lives with a session elsewhere") == 2_048)
        #expect(try fill("an entry of the timeline") == 1_024)
        let owner: Key = ".sharedcore/ownership/owner"
        for number in 0..<3 {
            let told = Transaction.Operation.put(try Key(".sharedcore/timeline/told\(number)"), [1], .persistent)
            try commit([.put(owner, [1], .session), told], to: &state, of: session)
            try commit([.delete(owner)], to: &state, of: session)
        }
        #expect(try fill("an expectation") == 1_024 - 3)
    }

    @Test(
        "A small commit beside what lives with a session may use what that may: a release, a take, an acknowledgement")
    func beside() throws {
        var (state, session) = try full(Limits(valueByteCount: 16_384, storeByteCount: 1_000))
        let owner: Key = ".sharedcore/ownership/owner"
        let take: Key = ".sharedcore/inbox/i/t"
        func claim(_ operations: Transaction.Operation...) -> RoomClaim {
            state.claim(
                of: operations.map { operation -> Effect.Operation in
                    switch operation {
                    case .put(let key, let value, let lifetime): .put(key, .inline(value), lifetime)
                    case .delete(let key): .delete(key)
                    case .deletePrefix(let prefix): .deletePrefix(prefix)
                    case .post(let name, let word): .post(name, state: word)
                    }
                })
        }
        let told = Transaction.Operation.put(".sharedcore/timeline/1", [1], .persistent)
        let mark = Transaction.Operation.put(".sharedcore/inbox/i/a", [], .expiring(after: .seconds(9)))
        #expect(claim(.delete(owner), told) == .record)
        #expect(claim(.delete(take), mark) == .content)
        try commit([.put(owner, [], .session), told], to: &state, of: session)
        try commit([.put(take, [], .session)], to: &state, of: session)
        #expect(claim(.delete(owner), told) == .ownership)
        #expect(claim(.delete(take), mark) == .session)
        let call = Transaction.Operation.put(".sharedcore/calls/call/1", [], .expiring(after: .seconds(9)))
        #expect(claim(call) == .record)
        #expect(claim(.delete(owner), .deletePrefix("c")) == .removal)
        #expect(claim(.put("o", [UInt8](repeating: 1, count: 16_384), .session)) == .content)
        #expect(claim(.put("o", [], .session), .post("told", state: nil)) == .session)
        #expect(claim(told, .put("c", [], .persistent)) == .content)
    }
}
