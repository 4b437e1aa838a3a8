internal import CoreAPI
internal import Mailboxes
internal import Wormholes

/// M1, M2, M4, M6 for queues, and requests on them.
enum QueueMailboxCases {
    static let all = [
        keepsAllInOrder, refusesWhenFull, dropsTheOldest, consumersShare, deadConsumerGivesBack, clearing,
        slowListener, requestsAreAnswered, requestsWait, requestsAreRefused,
    ]

    static let keepsAllInOrder = ConformanceCase(
        "M1c", "a queue keeps all messages, in order for each of 4 senders, for listeners and consumers alike"
    ) { context in
        try await context.withGroup { group in
            let senders = try await group.open(count: 4)
            let consumer = Wormhole(try await group.open())
            let recorder = MailboxRecorder(try await consumer.listen(to: .queue))
            _ = try await together(4) { sender in
                for number in 0..<100 {
                    try await Wormhole(senders[sender]).send(Parcel(sender: sender, number: number), to: .queue)
                }
            }
            let messages = try await consumer.consume(.queue)
            let taken = try await withTimeout(TestTimeout.long, "all messages are taken") {
                var taken: [Parcel] = []
                for try await message in messages {
                    taken.append(try message.message)
                    try await message.acknowledge()
                    if taken.count == 400 { break }
                }
                return taken
            }
            try await recorder.hears(400)
            let heard = recorder.heard.compactMap { event in
                if case .message(let message) = event { message.value } else { nil }
            }
            for sender in 0..<4 {
                for (parcels, who) in [(taken, "consumer"), (heard, "listener")] {
                    let numbers = parcels.filter { $0.sender == sender }.map(\.number)
                    try expect(numbers == Array(0..<100), "what a \(who) gets of sender \(sender) is in its order")
                }
            }
            try expect(try await consumer.read(.queue).count, is: 0, "what is left")
        }
    }

    static let refusesWhenFull = ConformanceCase(
        "M1d", "a full queue refuses, and takes a message again when there is room"
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            let id = QueueID<Parcel>("small", options: QueueOptions(capacity: 3))
            for number in 1...3 { try await wormhole.send(Parcel(number: number), to: id) }
            do {
                try await wormhole.send(Parcel(number: 4), to: id)
                throw CheckFailure("a full queue has taken a message", #fileID, #line)
            } catch let error as WormholeError {
                try expect(error.cause?.code, is: .limitExceeded, "the reason of the refusal")
            }
            try await wormhole.take(from: id)?.acknowledge()
            try await wormhole.send(Parcel(number: 4), to: id)
            let left = try await wormhole.read(id).map { try $0.get().value.number }
            try expect(left, is: [2, 3, 4], "what the queue holds")
        }
    }

    static let dropsTheOldest = ConformanceCase(
        "M1e", "a full queue that drops its oldest says which in the receipt"
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            let id = QueueID<Parcel>("rolling", options: QueueOptions(capacity: 3, overflow: .dropOldest))
            var receipts: [SendReceipt] = []
            for number in 1...5 { receipts.append(try await wormhole.send(Parcel(number: number), to: id)) }
            try expect(
                receipts.map(\.dropped), is: [[], [], [], [receipts[0].item], [receipts[1].item]], "what was dropped")
            let left = try await wormhole.read(id).map { try $0.get().value.number }
            try expect(left, is: [3, 4, 5], "what the queue holds")
        }
    }

    static let consumersShare = ConformanceCase(
        "M6a", "between two consumers each message is acknowledged once, and given back it comes again"
    ) { context in
        try await context.withGroup { group in
            let sender = Wormhole(try await group.open())
            let consumers = try await group.open(count: 2).map { Wormhole($0) }
            for number in 0..<200 { try await sender.send(Parcel(number: number), to: .queue) }
            let acknowledged = Box<[Int]>([])
            _ = try await together(2) { consumer in
                var givenBack: Set<Int> = []
                while let message = try await consumers[consumer].take(from: .queue) {
                    let number = try message.message.number
                    if number % 10 == 0, givenBack.insert(number).inserted {
                        try await message.giveBack()
                    } else if case .acknowledged = try await message.acknowledge() {
                        acknowledged.update { $0.append(number) }
                    }
                }
            }
            try expect(acknowledged.value.sorted() == Array(0..<200), "each is acknowledged once")
        }
    }

    static let deadConsumerGivesBack = ConformanceCase(
        "M6b",
        "a message in hand comes to another consumer when the session ends, not by a timer; acknowledged, never"
    ) { context in
        try await context.withGroup { group in
            let sender = Wormhole(try await group.open())
            let doomed = try await group.open()
            let other = Wormhole(try await group.open())
            for number in 1...3 { try await sender.send(Parcel(number: number), to: .queue) }
            let first = try expectSome(try await Wormhole(doomed).take(from: .queue), "the first")
            let second = try expectSome(try await Wormhole(doomed).take(from: .queue), "the second")
            try await first.acknowledge()
            try expect(try await other.take(from: .queue)?.message.number, is: 3, "the only one in nobody's hand")
            let waiting = try await other.consume(.queue)
            let next = Task {
                var iterator = waiting.makeAsyncIterator()
                return try await iterator.next()
            }
            await doomed.close()
            let again = try await withTimeout(TestTimeout.usual, "what the dead one had in hand") {
                try await next.value
            }
            try expect(try again?.message.number, is: 2, "what comes again")
            try expect(again?.item, is: second.item, "its name")
            try await again?.acknowledge()
            try expect(try await other.take(from: .queue)?.item, is: nil, "what comes after that")
        }
    }

    static let clearing = ConformanceCase(
        "M5b", "clearing a queue removes all messages, also taken ones: their acknowledgement is `superseded`"
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            let other = Wormhole(try await group.open())
            let id = QueueID<Parcel>("bounded", options: QueueOptions(capacity: 2))
            try await wormhole.send(Parcel(number: 1), to: id)
            try await wormhole.send(Parcel(number: 2), to: id)
            let recorder = MailboxRecorder(try await other.listen(to: id))
            let held = try expectSome(try await other.take(from: id), "a message")
            try expect(try await wormhole.clear(id), "there was something to clear")
            try expect(try await !wormhole.clear(id), "nothing was there any more")
            try expect(try await held.acknowledge(), is: .superseded, "the acknowledgement of one that was cleared")
            for number in 3...4 { try await wormhole.send(Parcel(number: number), to: id) }
            try await recorder.hears(3)
            try expect(recorder.heard.map(\.summary), is: ["cleared", "3", "4"], "what is heard")
        }
    }

    static let slowListener = ConformanceCase(
        "M3e", "a slow listener of a queue gets the messages that are left, and the number of those it missed"
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 16 << 10)) { group in
            let sender = Wormhole(try await group.open())
            let listener = Wormhole(try await group.open())
            let events = try await listener.listen(to: .queue)
            for number in 1...600 {
                try await sender.send(Parcel(number: number, text: "some text that takes room"), to: .queue)
                if number <= 590 { try await listener.take(from: .queue)?.acknowledge() }
            }
            let recorder = MailboxRecorder(events)
            try await eventually("all are heard or missed") { recorder.total >= 600 }
            try expect(recorder.total, is: 600, "what was heard or missed")
            try expect(
                recorder.heard.contains { if case .lagged = $0 { true } else { false } },
                "it was passed over: a listener is no buffer")
            let last = recorder.heard.suffix(10).map(\.summary)
            try expect(last, is: (591...600).map { "\($0)" }, "the last that are heard")
        }
    }

    // MARK: - Requests

    private static let doubling = RequestID<Int, Int>("double")

    static let requestsAreAnswered = ConformanceCase(
        "M6c", "each of many requests gets its own reply, from the one of two repliers that takes it"
    ) { context in
        try await context.withGroup { group in
            let requesters = try await group.open(count: 3).map { Wormhole($0) }
            let desks = try await group.open(count: 2)
            var serving: [Task<Void, any Error>] = []
            for desk in desks {
                let requests = try await Wormhole(desk).requests(of: doubling)
                serving.append(
                    Task { for try await request in requests { try await request.reply(request.request * 2) } })
            }
            let replies = try await together(3) { requester in
                var replies: [Int] = []
                for number in 0..<20 {
                    replies.append(
                        try await requesters[requester].request(
                            requester * 100 + number, of: doubling, timeout: TestTimeout.usual))
                }
                return replies
            }
            for (requester, replies) in replies.enumerated() {
                try expect(replies == (0..<20).map { (requester * 100 + $0) * 2 }, "the replies to \(requester)")
            }
            for task in serving { task.cancel() }
            let left = try await desks[0].list(".sharedcore/mailboxes").entries.map(\.key)
            try expect(left, is: [], "what requests and replies leave behind")
        }
    }

    static let requestsWait = ConformanceCase(
        "M6d", "a request waits for a replier, also after one that had taken it has gone; else it times out"
    ) { context in
        try await context.withGroup { group in
            let requester = Wormhole(try await group.open())
            let asking = Task { try await requester.request(21, of: doubling, timeout: TestTimeout.usual) }
            let doomed = try await group.open()
            let requests = try await Wormhole(doomed).requests(of: doubling)
            let inHand = try await withTimeout(TestTimeout.usual, "the request") {
                var iterator = requests.makeAsyncIterator()
                return try await iterator.next()
            }
            try expect(inHand?.request, is: 21, "the request in the hand of one who goes")
            await doomed.close()
            let next = try await Wormhole(try await group.open()).requests(of: doubling)
            let serving = Task { for try await request in next { try await request.reply(request.request * 2) } }
            let reply = try await withTimeout(TestTimeout.usual, "the reply") { try await asking.value }
            try expect(reply, is: 42, "the reply of the next one")
            serving.cancel()
            do {
                _ = try await requester.request(1, of: RequestID<Int, Int>("nobody"), timeout: .milliseconds(50))
                throw CheckFailure("nobody is there to reply", #fileID, #line)
            } catch let error as WormholeError {
                try expect(error.code, is: .timeout, "the code of a request without a reply")
            }
        }
    }

    static let requestsAreRefused = ConformanceCase(
        "M6e", "a refusal, and a request that cannot be read, tell the requester at once why; no reply goes elsewhere"
    ) { context in
        try await context.withGroup { group in
            let requester = Wormhole(try await group.open())
            let desk = try await group.open()
            let requests = try await Wormhole(desk).requests(of: doubling)
            let serving = Task {
                for try await request in requests { try await request.refuse(because: "closed today") }
            }
            func outcome(_ ask: () async throws -> Int) async -> String {
                do { return "\(try await ask())" } catch { return "\(error)" }
            }
            let refusal = await outcome { try await requester.request(1, of: doubling, timeout: TestTimeout.usual) }
            try expect(refusal, is: "refused: closed today", "a refusal")
            let text = await outcome {
                try await requester.request("text", of: RequestID<String, Int>("double"), timeout: TestTimeout.usual)
            }
            try expect(text.hasPrefix("refused: The message cannot be read"), "a request that is no number: \(text)")
            let newer = await outcome {
                try await requester.request(1, of: RequestID<Int, Int>("double", schema: 2), timeout: TestTimeout.usual)
            }
            try expect(newer, is: "refused: The message has version 2, and this program knows up to 1.", "a newer one")
            serving.cancel()
        }
    }
}
