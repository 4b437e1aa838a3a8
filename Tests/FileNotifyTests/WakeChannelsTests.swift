internal import CoreAPI
internal import StoreEngine
internal import Testing

@testable internal import FileNotifyBackend

extension WakeChannels {
    fileprivate var wakeChannelCount: Int { Array(indices).count }

    fileprivate func isDisjoint(with other: WakeChannels) -> Bool { intersection(other).isEmpty }
}

@Suite("Wake channels")
struct WakeChannelsTests {
    @Test("N4: a change of a key rings each watch of a path above it, the key itself, or everything")
    func pathsAboveAreRung() throws {
        let signaled = WakeChannels(changing: "a/b/c")
        for prefix in ["", "a", "a/b", "a/b/", "a/b/c"] as [KeyPrefix] {
            #expect(signaled.isSuperset(of: WakeChannels(listeningTo: prefix)), "\(prefix)")
        }
    }

    @Test(
        "S4: every prefix that selects a key has one of its bells", arguments: ["/", "//", "a//b", "/a", "a/", "a//"])
    func strangePathsAreRung(text: String) throws {
        let key = try Key(text)
        for end in text.indices + [text.endIndex] {
            let prefix = try KeyPrefix(String(text[..<end]))
            guard prefix.contains(key) else { continue }
            #expect(
                WakeChannels(changing: key).isSuperset(of: WakeChannels(listeningTo: prefix)), "\(text) under \(prefix)"
            )
        }
    }

    @Test("N4: different names and paths spread over the bells that there are for them, one each")
    func bellsSpread() throws {
        var ofNames = WakeChannels()
        var ofPaths = [WakeChannels](repeating: WakeChannels(), count: 4)
        for index in 0..<8_000 {
            let name = WakeChannels(of: try NotificationName("name \(index)"))
            #expect(name.wakeChannelCount == 1)
            ofNames.formUnion(name)
            for (depth, path) in ["\(index)", "a/\(index)", "a/b/\(index)", "a/\(index)/c/d"].enumerated() {
                let wakeChannel = WakeChannels(listeningTo: try KeyPrefix(path))
                #expect(wakeChannel.wakeChannelCount == 1)
                ofPaths[depth].formUnion(wakeChannel)
            }
        }
        #expect(ofPaths.map(\.wakeChannelCount) == [7, 56, 208, 240])
        #expect(ofPaths.reduce(into: WakeChannels.everything) { $0.formUnion($1) } == .all)
        #expect(ofNames.wakeChannelCount == 264)
        #expect(ofNames.isDisjoint(with: WakeChannels(listeningTo: "")))
    }

    @Test("N4: a change wakes few that watch other paths of its depth, and none of those that watch longer ones")
    func othersAreNotWoken() throws {
        let watched = try (0..<100).map { WakeChannels(listeningTo: try KeyPrefix("a/inbox/\($0)")) }
        let signaled = try (0..<100).map { WakeChannels(changing: try Key("a/demand/\($0)/session")) }
        let woken = signaled.map { wakeChannels in watched.count { !$0.isDisjoint(with: wakeChannels) } }
        // 100 on 208 wake channels are a half on each; one path of this depth is above each key.
        #expect(woken.reduce(0, +) <= 75, "\(woken)")
        #expect(watched.allSatisfy { $0.isDisjoint(with: WakeChannels(changing: "a/demand")) })
    }

    @Test("N4: an observer of everything has one bell, which every change and every post rings")
    func everythingIsHeard() {
        for key in ["a", "a/b", "a/b/c", "a/b/c/d"] as [Key] {
            #expect(WakeChannels(changing: key).isSuperset(of: .everything))
            #expect(!WakeChannels(listeningTo: KeyPrefix(key)).isSuperset(of: .everything), "nobody else listens to it")
        }
        let name: NotificationName = "name"
        #expect(WakeChannels(posting: name) == WakeChannels(of: name).union(.everything))
        #expect(!WakeChannels(of: name).isSuperset(of: .everything))
    }

    @Test("a set of bells is the same in the words of a page, and each bell is one")
    func words() {
        var all = WakeChannels()
        for index in 0..<WakeChannels.count {
            let wakeChannel = WakeChannels(index: index)
            #expect(Array(wakeChannel.indices) == [index])
            #expect(wakeChannel.isDisjoint(with: all))
            all.formUnion(wakeChannel)
        }
        #expect(all == .all)
        #expect(Array(all.indices) == Array(0..<WakeChannels.count))
        all.subtract(WakeChannels(index: 64))
        #expect(!all.isSuperset(of: WakeChannels(index: 64)) && all.isSuperset(of: WakeChannels(index: 63)))
        #expect(all.wakeChannelCount == WakeChannels.count - 1)
    }

    @Test("N4: a transaction rings the bells of what it changes, and opens none for what was not there to be deleted")
    func absentKeys() throws {
        var state = StoreState()
        let session = SessionID(rawValue: 1)
        let now = BootInstant(nanoseconds: 1)
        func effect(_ operations: [Effect.Operation]) -> Effect {
            Effect(
                revision: Revision(rawValue: state.revision.rawValue + 1), time: now,
                body: .committed(session, requestNumber: nil, operations))
        }
        let value = StoredValue.inline([1])
        state.apply(effect([.put("a/b/present", value, .persistent)]))

        let mixed = effect([.put("a/b/new", value, .persistent), .delete("a/b/absent"), .delete("a/b/present")])
        let wakeChannels = WakeChannels(of: mixed, before: state)
        state.apply(mixed)

        #expect(wakeChannels == WakeChannels(changing: "a/b/new").union(WakeChannels(changing: "a/b/present")))
        #expect(WakeChannels(of: mixed, expected: wakeChannels, in: &state) == wakeChannels)
        #expect(WakeChannels(of: effect([.delete("a/b/absent")]), before: state).isEmpty)
    }

    @Test("N4: the end of a session rings the bells of what it held, and opens no others")
    func endOfASession() throws {
        var state = StoreState()
        let now = BootInstant(nanoseconds: 1)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        let opening = state.opening(
            SessionOpening(process: process, description: SessionDescription(role: .executor, name: "one")), at: now)
        state.apply(opening)
        let session = SessionID(rawValue: opening.revision.rawValue)
        var transaction = Transaction()
        transaction.put("a/held", [1], lifetime: .session)
        transaction.put("a/kept", [1])
        guard case .record(let effect, _) = try state.decide(transaction, of: session, at: now) else {
            Issue.record("the transaction is not recorded")
            return
        }
        state.apply(effect)

        let ending = try #require(state.ending(session, at: now))
        let opened = WakeChannels(of: ending, before: state)
        state.apply(ending)

        #expect(opened == WakeChannels(changing: "a/held"))
        #expect(WakeChannels(of: ending, expected: WakeChannels(of: ending), in: &state) == opened)
    }
}
