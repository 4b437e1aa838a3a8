internal import CoreAPI
internal import Wormholes

/// M1 to M5 for mailboxes that keep the last message.
enum LatestMailboxCases {
    static let all = [
        keepsTheLast, outlivesItsSender, readsNow, listensInOrder, replays, undecodableGoesOn, slowListener,
        everyListener, originFilter, clearAll, hostileNames, lifetimes,
    ]

    static let keepsTheLast = ConformanceCase(
        "M1a", "a mailbox of kind latest keeps the last message; receipts rise, and the message is there (M2)"
    ) { context in
        try await context.withGroup { group in
            let sender = Wormhole(try await group.open())
            let reader = Wormhole(try await group.open())
            var last = Revision.zero
            for number in 1...20 {
                let revision = try await sender.send(Parcel(number: number), to: .latest)
                try expect(revision > last, "receipt \(number) is later than the one before")
                last = revision
                let found = try await reader.read(.latest)
                try expect(found?.value, is: Parcel(number: number), "the message that stands there")
                try expect(found?.revision, is: revision, "its revision")
                try expect(found?.origin, is: sender.group.session.id, "its sender")
            }
        }
    }

    static let outlivesItsSender = ConformanceCase(
        "M2a", "a message that was sent while the receiver was away is there when it comes (scenario 25)"
    ) { context in
        try await context.withGroup { group in
            let stays = try await group.open()
            let leaves = try await group.open()
            try await Wormhole(leaves).send(Parcel(number: 1), to: .latest)
            try await Wormhole(leaves).send(Parcel(number: 2), to: .queue)
            await leaves.close()
            let comes = Wormhole(try await group.open())
            try expect(try await comes.read(.latest)?.value.number, is: 1, "the last message of one who has left")
            let queued = try await comes.take(from: .queue)
            try expect(try queued?.message.number, is: 2, "the queued message of one who has left")
            await stays.close()
        }
    }

    static let readsNow = ConformanceCase(
        "M3a", "reading gives nil when nothing is there, and a typed error for what cannot be decoded"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let wormhole = Wormhole(store)
            try expect(try await wormhole.read(.latest)?.value, is: nil, "what an empty mailbox holds")
            try await wormhole.send("text", to: MailboxID<String>("parcels/latest"))
            try await expectUndecodable(wormhole) { if case .malformed = $0 { true } else { false } }
            try await wormhole.send(Parcel(number: 1), to: MailboxID("parcels/latest", schema: 3))
            try await expectUndecodable(wormhole) { $0 == .newer(found: 3, known: 1) }
            try await wormhole.send(Parcel(number: 1), to: MailboxID("parcels/latest", codec: .propertyList))
            try await expectUndecodable(wormhole) { $0 == .otherCodec(found: "plist", expected: "json") }
            try await wormhole.send([1, 2, 3], to: MailboxID("parcels/latest", codec: .bytes))
            try await expectUndecodable(wormhole) { $0 == .otherCodec(found: "bytes", expected: "json") }
            try await store.put(".sharedcore/mailboxes/%main/latest/parcels%2Flatest/value", [1, 2, 3])
            try await expectUndecodable(wormhole) { $0 == .foreign }
            try await wormhole.send(Parcel(number: 2), to: .latest)
            try expect(try await wormhole.read(.latest)?.value.number, is: 2, "a good message after all of these")
            let older = try await wormhole.read(MailboxID<Parcel>("parcels/latest", schema: 3))
            try expect(older?.value.number, is: 2, "an older message for a reader that knows a newer version")
        }
    }

    static let listensInOrder = ConformanceCase(
        "M4a", "scenario 26: equal values twice are two events; cleared, then the same value: both are heard"
    ) { context in
        try await context.withGroup { group in
            let sender = Wormhole(try await group.open())
            let listener = Wormhole(try await group.open())
            let recorder = MailboxRecorder(try await listener.listen(to: .latest))
            try await sender.send(Parcel(number: 1), to: .latest)
            try await sender.send(Parcel(number: 1), to: .latest)
            try expect(try await sender.clear(.latest), "there was something to clear")
            try expect(try await !sender.clear(.latest), "nothing was there any more")
            try await sender.send(Parcel(number: 1), to: .latest)
            try await recorder.hears(4)
            try expect(recorder.heard.map(\.summary), is: ["1", "1", "cleared", "1"], "what is heard")
            try expect(try await listener.read(.latest)?.value.number, is: 1, "what stands there")
        }
    }

    static let replays = ConformanceCase(
        "M3b", "a listener begins with no old message, the last one, or all stored ones, as it asked"
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            for number in 1...3 {
                try await wormhole.send(Parcel(number: number), to: .latest)
                try await wormhole.send(Parcel(number: number), to: .queue)
            }
            let expected: [(ReplayPolicy, [String], [String])] = [
                (.none, [], []), (.latest, ["3"], ["3"]), (.pending, ["3"], ["1", "2", "3"]),
            ]
            for (round, (replay, latest, pending)) in expected.enumerated() {
                let one = MailboxRecorder(try await wormhole.listen(to: .latest, replay: replay))
                let all = MailboxRecorder(try await wormhole.listen(to: .queue, replay: replay))
                // An armed listener receives this message after all replayed events.
                let mark = Parcel(number: 100 + round)
                try await wormhole.send(mark, to: .latest)
                try await wormhole.send(mark, to: .queue)
                try await one.hears(latest.count + 1)
                try await all.hears(pending.count + 1)
                try expect(one.heard.map(\.summary), is: latest + ["\(mark.number)"], "replay \(replay) of the last")
                try expect(all.heard.map(\.summary), is: pending + ["\(mark.number)"], "replay \(replay) of a queue")
                // Restore the state with which each round begins.
                try await wormhole.send(Parcel(number: 3), to: .latest)
                let taken = try await wormhole.read(.queue)
                try await wormhole.clear(.queue)
                try expect(taken.count, is: 4, "what the queue held")
                for number in 1...3 { try await wormhole.send(Parcel(number: number), to: .queue) }
            }
        }
    }

    static let undecodableGoesOn = ConformanceCase(
        "M3c", "a message that cannot be decoded is an element, and the next good one still comes (scenario 27)"
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            let one = MailboxRecorder(try await wormhole.listen(to: .latest))
            let all = MailboxRecorder(try await wormhole.listen(to: .queue))
            try await wormhole.send("text", to: MailboxID<String>("parcels/latest"))
            try await wormhole.send("text", to: QueueID<String>("parcels/queue"))
            try await wormhole.send(Parcel(number: 2), to: .latest)
            try await wormhole.send(Parcel(number: 2), to: .queue)
            for recorder in [one, all] {
                try await recorder.hears(2)
                try expect(recorder.heard.map(\.summary), is: ["undecodable", "2"], "what is heard")
            }
            let bad = try expectSome(try await wormhole.take(from: .queue), "the first of the queue")
            guard case .failure = bad.content else { throw CheckFailure("a text is no parcel", #fileID, #line) }
            try await bad.acknowledge()
            try expect(try await wormhole.take(from: .queue)?.message.number, is: 2, "the next of the queue")
        }
    }

    static let slowListener = ConformanceCase(
        "M3d", "scenario 28: of 10,000 sends to slow listeners, the delivered and the missed ones add up",
        timeLimit: .seconds(600)
    ) { context in
        // A history that holds only a part of it.
        try await context.withGroup(GroupSettings(historyByteCount: 64 << 10)) { group in
            let sender = Wormhole(try await group.open())
            let listener = Wormhole(try await group.open())
            let count = context.number(10_000, whereCommitsCost: 1_500, of: "sends")
            let sleeping = try await listener.listen(to: .latest)
            let limping = Box<[MailboxEvent<Parcel>]>([])
            let slow = try await listener.listen(to: .latest)
            let task = Task {
                var random = context.random()
                for try await event in slow {
                    limping.update { $0.append(event) }
                    // The listener is slower than the sender at random moments.
                    if random.once(in: 50) { try await Task.sleep(for: .milliseconds(20)) }
                }
            }
            for number in 1...count {
                try await sender.send(Parcel(number: number, text: "some text that takes room"), to: .latest)
                if number % 1_000 == 499 { try await sender.clear(.latest) }
            }
            let clearings = (count + 501) / 1_000
            let awake = MailboxRecorder(sleeping)
            let total = UInt64(count + clearings)
            try await eventually("the one that slept has heard of all") { awake.total >= total }
            try expect(awake.total, is: total, "what the one that slept heard or missed")
            try expect(awake.heard.last?.summary, is: "\(count)", "the last that it heard")
            try expect(
                awake.heard.contains { if case .lagged = $0 { true } else { false } },
                "the one that slept was passed over: a listener is no buffer")
            try await eventually("the one that was slow has heard of the last", timeout: TestTimeout.long) {
                limping.value.last?.summary == "\(count)"
            }
            let heard = limping.value.reduce(0 as UInt64) { sum, event in
                if case .lagged(let missed) = event { sum + missed } else { sum + 1 }
            }
            try expect(heard, is: total, "what the slow one heard or missed")
            task.cancel()
        }
    }

    static let everyListener = ConformanceCase(
        "M4b", "every listener hears every message, in its order, on any isolation (scenario 25)"
    ) { context in
        try await context.withGroup { group in
            let sender = Wormhole(try await group.open())
            let handles = try await group.open(count: 3)
            var recorders: [MailboxRecorder] = []
            for handle in handles {
                recorders.append(MailboxRecorder(try await Wormhole(handle).listen(to: .latest)))
                recorders.append(MailboxRecorder(try await Wormhole(handle).listen(to: .latest)))
            }
            let called = Box<[String]>([])
            let desk = ParcelDesk()
            let events = Wormhole(handles[0])
            let plain = try await events.listen(to: .latest).handle { event in
                called.update { $0.append(event.summary) }
            }
            let placed = try await events.listen(to: .latest).handle(on: desk) { desk, event in
                desk.heard.append(event.summary)
            }
            for number in 1...50 { try await sender.send(Parcel(number: number), to: .latest) }
            let expected = (1...50).map { "\($0)" }
            for recorder in recorders {
                try await recorder.hears(50)
                try expect(recorder.heard.map(\.summary), is: expected, "what a listener hears")
            }
            try await eventually("the handlers were called") {
                let onDesk = await desk.heard
                return called.value.count >= 50 && onDesk.count >= 50
            }
            try expect(called.value, is: expected, "what a handler hears")
            try expect(await desk.heard, is: expected, "what a handler on an actor hears")
            plain.cancel()
            placed.cancel()
            let reached = called.value.count
            try await sender.send(Parcel(number: 51), to: .latest)
            try await recorders[0].hears(51)
            try expect(called.value.count, is: reached, "the calls of a handler that was cancelled")
        }
    }

    static let originFilter = ConformanceCase(
        "M4c", "a listener hears all sessions, the others, or one session, as it asked"
    ) { context in
        try await context.withGroup { group in
            let (own, other) = (Wormhole(try await group.open()), Wormhole(try await group.open()))
            let all = MailboxRecorder(try await own.listen(to: .latest))
            let others = MailboxRecorder(try await own.listen(to: .latest, from: .others))
            let only = MailboxRecorder(try await own.listen(to: .latest, from: .only(own.group.session.id)))
            for number in 1...10 {
                try await (number % 2 == 0 ? own : other).send(Parcel(number: number), to: .latest)
            }
            try await all.hears(10)
            try await others.hears(5)
            try await only.hears(5)
            try expect(others.heard.map(\.summary), is: ["1", "3", "5", "7", "9"], "what others sent")
            try expect(only.heard.map(\.summary), is: ["2", "4", "6", "8", "10"], "what one session sent")
        }
    }

    static let clearAll = ConformanceCase(
        "M5a", "clear-all touches only this wormhole's mailboxes, tells how many, and their listeners hear it"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let own = Wormhole(store, directory: "own")
            let foreign = [Wormhole(store), Wormhole(store, directory: "ow"), Wormhole(store, directory: "own/more")]
            for wormhole in foreign + [own] {
                for name in ["a", "a/b", "b"] {
                    try await wormhole.send(Parcel(number: 1), to: MailboxID(name))
                    try await wormhole.send(Parcel(number: 1), to: QueueID(name))
                }
            }
            try await store.put("own", text: "the dictionary")
            let one = MailboxRecorder(try await own.listen(to: MailboxID<Parcel>("a")))
            let all = MailboxRecorder(try await own.listen(to: QueueID<Parcel>("a/b")))
            try await own.clear(MailboxID<Parcel>("b"))
            try expect(try await own.clearAll(), is: 5, "how many held something")
            try expect(try await own.clearAll(), is: 0, "how many hold something then")
            for recorder in [one, all] {
                try await recorder.hears(1)
                try expect(recorder.heard.map(\.summary), is: ["cleared"], "what a listener hears")
            }
            for wormhole in foreign {
                try expect(
                    try await wormhole.read(MailboxID<Parcel>("a"))?.value.number, is: 1, "another one's mailbox")
                try expect(try await wormhole.read(QueueID<Parcel>("a/b")).count, is: 1, "another one's queue")
            }
            try expect(try await store.text("own"), is: "the dictionary", "what stands in the dictionary")
        }
    }

    static let hostileNames = ConformanceCase(
        "M1b", "hostile names of mailboxes and directories neither collide nor leave their place"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let names = HostileKeys.all + ["", "../latest", "%main", "a%252Fb", String(repeating: "x", count: 3_000)]
            for (number, name) in names.enumerated() {
                try await Wormhole(store).send(Parcel(number: number), to: MailboxID(name))
                try await Wormhole(store, directory: name).send(Parcel(number: number), to: .latest)
                try await Wormhole(store).send(Parcel(number: number), to: QueueID(name))
            }
            for (number, name) in names.enumerated() {
                let own = try await Wormhole(store).read(MailboxID<Parcel>(name))
                try expect(own?.value.number, is: number, "the mailbox “\(name.prefix(40))”")
                let placed = try await Wormhole(store, directory: name).read(.latest)
                try expect(placed?.value.number, is: number, "the directory “\(name.prefix(40))”")
                let queued = try await Wormhole(store).read(QueueID<Parcel>(name))
                try expect(queued.compactMap { try? $0.get().value.number }, is: [number], "its queue")
            }
            let keys = try await store.list().entries.map(\.key.text)
            try expect(
                keys.allSatisfy { $0.hasPrefix(".sharedcore/mailboxes/") }, "everything stands in the mailboxes' place")
        }
    }

    static let lifetimes = ConformanceCase(
        "M2b", "a message is kept for its declared lifetime, never less, and its end is an event"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let wormhole = Wormhole(try await group.open())
            let brief = MailboxID<Parcel>("brief", lifetime: .expiring(after: .seconds(60)))
            let recorder = MailboxRecorder(try await wormhole.listen(to: brief))
            try await wormhole.send(Parcel(number: 1), to: brief)
            clock.advance(by: .seconds(60) - .nanoseconds(1))
            try expect(try await wormhole.read(brief)?.value.number, is: 1, "the message to its last nanosecond")
            clock.advance(by: .seconds(1))
            try await recorder.hears(2)
            try expect(recorder.heard.map(\.summary), is: ["1", "cleared"], "what is heard")
            try expect(try await wormhole.read(brief)?.value, is: nil, "the message after its time")
        }
    }

    private static func expectUndecodable(
        _ wormhole: Wormhole, _ isExpected: (DecodingFailure.Reason) -> Bool, file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        do {
            let found = try await wormhole.read(.latest)
            throw CheckFailure("this cannot be decoded, but was: \(String(describing: found))", file, line)
        } catch let error as WormholeError {
            try expect(error.code == .undecodable, "the code of \(error)", file: file, line: line)
            let isRight = error.decodingFailure.map { isExpected($0.reason) } == true
            try expect(isRight, "the reason of \(error)", file: file, line: line)
        }
    }
}

/// An actor that listens to parcels.
private actor ParcelDesk {
    var heard: [String] = []
}
