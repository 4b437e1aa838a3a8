internal import CoreAPI
internal import Platform
internal import Wormholes

/// M2, M4, M6 between processes.
enum MailboxProcessCases {
    static let all = [consumersAreKilled, listenersElsewhere]

    static let consumersAreKilled = ConformanceCase(
        "M6f",
        "scenario 29: 10,000 messages of 4 senders reach 2 consumers that are killed again and again, each once",
        promises: [.multipleProcesses, .promptDeathNotice], timeLimit: .seconds(900)
    ) { context in
        try await context.withGroup { group in
            let count = context.number(2_500, whereCommitsCost: 250, of: "messages of each sender")
            let store = try await group.open()
            // A watch counts the finished messages: listing them at each check would take longer than delivering them.
            let recorder = try await WatchRecorder(store, of: ["done"], keepsChanges: false)
            let senders = try await group.join(count: 4)
            for (number, sender) in senders.enumerated() { try sender.send("produce \(number) \(count)") }
            var consumers = try await group.join(count: 2)
            for consumer in consumers { try consumer.send("consume") }
            var random = context.random()
            let kills = 6
            for kill in 1...kills {
                let reached = kill * count * 4 / (kills + 2)
                try await eventually("\(reached) messages are dealt with", timeout: TestTimeout.long) {
                    recorder.mirror.entries.count >= reached
                }
                let victim = Int.random(in: 0..<2, using: &random)
                consumers[victim].signal(.kill)
                await consumers[victim].killNow()
                consumers[victim] = try await group.join()
                try consumers[victim].send("consume")
            }
            for sender in senders { try await sender.done(timeout: TestTimeout.long) }
            try await eventually("all are dealt with", timeout: TestTimeout.long) {
                recorder.mirror.entries.count >= count * 4
            }
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            try expect(try await store.list("done").entries.count, is: count * 4, "how many were dealt with")
            try expect(try await store.list("twice").entries.map(\.key), is: [], "those that came twice")
            try expect(try await Wormhole(store).read(.queue).count, is: 0, "what is left in the queue")
        }
    }

    static let listenersElsewhere = ConformanceCase(
        "M4d", "listeners and readers in another process get each message, also one that starts later (scenario 25)",
        promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { group in
            let wormhole = Wormhole(try await group.open())
            try await wormhole.send(Parcel(number: 1), to: .latest)
            let peer = try await group.join()
            try expect(try await peer.tell("readParcel"), is: "1", "what a process that starts later reads")
            try await peer.tell("listenParcels")
            let recorder = MailboxRecorder(try await wormhole.listen(to: .latest))
            for number in 2...20 { try await wormhole.send(Parcel(number: number), to: .latest) }
            try await recorder.hears(19)
            try await eventually("the other process has heard all") {
                try await peer.tell("heardParcels") == (2...20).map { "\($0)" }.joined(separator: " ")
            }
        }
    }
}
