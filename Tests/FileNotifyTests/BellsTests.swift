internal import CoreAPI
internal import StoreEngine
internal import Testing

@testable internal import FileNotifyBackend

extension Bells {
    fileprivate var bellCount: Int { Array(indices).count }

    fileprivate func isDisjoint(with other: Bells) -> Bool { intersection(other).isEmpty }
}

@Suite("Bells")
struct BellsTests {
    @Test("N4: a change of a key rings each watch of a path above it, the key itself, or everything")
    func pathsAboveAreRung() throws {
        let rung = Bells(changing: "a/b/c")
        for prefix in ["", "a", "a/b", "a/b/", "a/b/c"] as [KeyPrefix] {
            #expect(rung.isSuperset(of: Bells(listeningTo: prefix)), "\(prefix)")
        }
    }

    @Test(
        "S4: every prefix that selects a key has one of its bells", arguments: ["/", "//", "a//b", "/a", "a/", "a//"])
    func strangePathsAreRung(text: String) throws {
        let key = try Key(text)
        for end in text.indices + [text.endIndex] {
            let prefix = try KeyPrefix(String(text[..<end]))
            guard prefix.contains(key) else { continue }
            #expect(Bells(changing: key).isSuperset(of: Bells(listeningTo: prefix)), "\(text) under \(prefix)")
        }
    }

    @Test("N4: different names and paths spread over the bells that there are for them, one each")
    func bellsSpread() throws {
        var ofNames = Bells()
        var ofPaths = [Bells](repeating: Bells(), count: 4)
        for index in 0..<8_000 {
            let name = Bells(of: try NotificationName("name \(index)"))
            #expect(name.bellCount == 1)
            ofNames.formUnion(name)
            for (depth, path) in ["\(index)", "a/\(index)", "a/b/\(index)", "a/\(index)/c/d"].enumerated() {
                let bell = Bells(listeningTo: try KeyPrefix(path))
                #expect(bell.bellCount == 1)
                ofPaths[depth].formUnion(bell)
            }
        }
        #expect(ofPaths.map(\.bellCount) == [7, 56, 208, 240])
        #expect(ofPaths.reduce(into: Bells.everything) { $0.formUnion($1) } == .all)
        #expect(ofNames.bellCount == 264)
        #expect(ofNames.isDisjoint(with: Bells(listeningTo: "")))
    }

    @Test("N4: a change wakes few that watch other paths of its depth, and none of those that watch longer ones")
    func othersAreNotWoken() throws {
        let watched = try (0..<100).map { Bells(listeningTo: try KeyPrefix("a/inbox/\($0)")) }
        let rung = try (0..<100).map { Bells(changing: try Key("a/demand/\($0)/session")) }
        let woken = rung.map { bells in watched.count { !$0.isDisjoint(with: bells) } }
        // 100 on 208 wake channels are a half on each; one path of this depth is above each key.
        #expect(woken.reduce(0, +) <= 75, "\(woken)")
        #expect(watched.allSatisfy { $0.isDisjoint(with: Bells(changing: "a/demand")) })
    }

    @Test("N4: an observer of everything has one bell, which every change and every post rings")
    func everythingIsHeard() {
        for key in ["a", "a/b", "a/b/c", "a/b/c/d"] as [Key] {
            #expect(Bells(changing: key).isSuperset(of: .everything))
            #expect(!Bells(listeningTo: KeyPrefix(key)).isSuperset(of: .everything), "nobody else listens to it")
        }
        let name: NotificationName = "name"
        #expect(Bells(posting: name) == Bells(of: name).union(.everything))
        #expect(!Bells(of: name).isSuperset(of: .everything))
    }

    @Test("a set of bells is the same in the words of a page, and each bell is one")
    func words() {
        var all = Bells()
        for index in 0..<Bells.count {
            let bell = Bells(index: index)
            #expect(Array(bell.indices) == [index])
            #expect(bell.isDisjoint(with: all))
            all.formUnion(bell)
        }
        #expect(all == .all)
        #expect(Array(all.indices) == Array(0..<Bells.count))
        all.subtract(Bells(index: 64))
        #expect(!all.isSuperset(of: Bells(index: 64)) && all.isSuperset(of: Bells(index: 63)))
        #expect(all.bellCount == Bells.count - 1)
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
        let bells = Bells(of: mixed, before: state)
        state.apply(mixed)

        #expect(bells == Bells(changing: "a/b/new").union(Bells(changing: "a/b/present")))
        #expect(Bells(of: mixed, expected: bells, in: &state) == bells)
        #expect(Bells(of: effect([.delete("a/b/absent")]), before: state).isEmpty)
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
        let opened = Bells(of: ending, before: state)
        state.apply(ending)

        #expect(opened == Bells(changing: "a/held"))
        #expect(Bells(of: ending, expected: Bells(of: ending), in: &state) == opened)
    }
}
