internal import Coordination
internal import CoreAPI
internal import Foundation
internal import SIPCore

/// The telephone that its user has open: it owns the core until its input ends.
enum MainProgram {
    static func run(in directory: String, takingOver: Bool) async throws {
        let (messages, continuation) = AsyncStream.makeStream(of: InboxMessage.self)
        let telephone = try SIPTelephone(Softphone.account(in: directory)) { event in
            Softphone.say(event)
            if case .message(let message) = event { continuation.yield(message) }
        }
        let group = try await Softphone.open(directory, as: .main)
        var options = CoordinationOptions()
        options.takesBatons = [SIPTelephone.batonKind]  // a call of another process goes on here
        try await group.withMain(options: options, takingOver: takingOver, core: { telephone.makeCore() }) { main in
            await withTaskGroup { tasks in
                tasks.addTask { await show(messages, main) }
                for await line in Keyboard.lines() { await obey(line, telephone, group) }
                tasks.cancelAll()
            }
        }
    }

    private static func show(_ messages: AsyncStream<InboxMessage>, _ main: MainParticipant) async {
        for await message in messages {
            Softphone.say("\(message.content.sender): \(message.content.text)")
            do {
                try await main.acknowledge(message.id)
            } catch {
                Softphone.say("not acknowledged: \(error)")
            }
        }
    }

    /// `send ADDRESS TEXT`, `call ADDRESS`, `answer ID`, `decline ID`, `hangup ID`, `hold ID`, `resume ID`.
    private static func obey(_ line: String, _ telephone: SIPTelephone, _ group: any SharedStore) async {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        do {
            switch (words.first, words.count) {
            case ("send", 3):
                try await telephone.send(words[2], to: words[1])
                Softphone.say("sent")
            case ("call", 2): Softphone.say("calls: \(try await telephone.call(words[1]))")
            case ("answer", 2): try await CallProgram.send(.answer, to: words[1], in: group)
            case ("decline", 2): try await CallProgram.send(.decline, to: words[1], in: group)
            case ("hold", 2): try await CallProgram.send(.hold, to: words[1], in: group)
            case ("resume", 2): try await CallProgram.send(.resume, to: words[1], in: group)
            case ("hangup", 2): try await CallProgram.send(.hangUp, to: words[1], in: group)
            default:
                Softphone.say(
                    "send ADDRESS TEXT, call ADDRESS, answer ID, decline ID, hangup ID, hold ID, resume ID or quit")
            }
        } catch {
            Softphone.say("failed: \(error)")
        }
    }
}

/// The lines of standard input, read on a thread of their own, because reading blocks.
enum Keyboard {
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine(), line != "quit" { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
