internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// P13: pushes that are routed to Main.
enum MainPushCases {
    static let all = [takenAndKilled]

    static let takenAndKilled = ConformanceCase(
        "P13a",
        "a push that a killed Main had in hand comes to the next one; one that it has acknowledged does not, as is told",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let sender = try await testCluster.group.open("sender")
            let queue = try MainPushQueue(sender)
            for id in ["push-1", "push-2"] {
                let push = Push(try expectSome(CallID(id), "a call-id"))
                try await queue.mailbox.send(queue.bytes(of: push, for: .seconds(3600)))
            }
            let first = try await testCluster.owningMain("first", apart: true)
            try expect(try await first.tell("push"), is: "push-1", "what the first takes")
            try expect(try await first.tell("handled"), is: "true", "its acknowledgement")
            try expect(try await first.tell("push"), is: "push-2", "what it takes then")
            try await first.kill()
            let second = try await testCluster.owningMain("second")
            try expect(try await second.tell("push"), is: "push-2", "what the second takes")
            try expect(try await second.tell("handled"), is: "true", "the second one's acknowledgement")
            let told = try await testCluster.entries().filter { $0.kind == .pushHandled }.map(\.reason)
            try expect(told, is: ["type message, “push-1”", "type message, “push-2”"], "what the timeline tells")
            await sender.close()
        }
    }
}
