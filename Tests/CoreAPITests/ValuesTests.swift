internal import CoreAPI
internal import Testing

@Suite("Values of the interface")
struct ValuesTests {
    @Test("L2: a session's name is cut at a character, at 128 bytes")
    func sessionNamesAreCut() {
        #expect(SessionDescription(name: String(repeating: "n", count: 200)).name.utf8.count == 128)
        let euros = SessionDescription(name: String(repeating: "€", count: 60)).name
        #expect(euros == String(repeating: "€", count: 42))
        #expect(SessionDescription(name: "short").name == "short")
    }

    @Test("S5: a guard names its key")
    func guardsNameTheirKey() {
        let revision = Revision(rawValue: 1)
        let guards: [Transaction.Guard] = [.absent("k"), .exists("k"), .revision("k", revision), .epoch("k", revision)]
        #expect(guards.allSatisfy { $0.key == "k" })
    }

    @Test("S5: a transaction keeps its steps in their order")
    func transactionsKeepTheirOrder() {
        var transaction = Transaction()
        transaction.require(.absent("a"))
        transaction.put("a", [1], lifetime: .session)
        transaction.delete("b")
        transaction.deleteAll(under: "c")
        transaction.post("news", state: 4)
        #expect(transaction.guards == [.absent("a")])
        #expect(
            transaction.operations == [
                .put("a", [1], .session), .delete("b"), .deletePrefix("c"), .post("news", state: 4),
            ])
        #expect(transaction.requestNumber == nil)
    }

    @Test("W1: every event names the revision up to which the consumer knows everything")
    func eventsNameTheirRevision() {
        let revision = Revision(rawValue: 5)
        let snapshot = Snapshot(revision: revision, entries: [])
        let set = ChangeSet(revision: revision, origin: SessionID(rawValue: 1), changes: [])
        #expect(
            [.snapshot(snapshot), .lagged(snapshot), .changes(set)].allSatisfy { (event: WatchEvent) in
                event.revision == revision
            })
    }
}
