internal import Coordination
internal import CoreAPI
internal import SIPCore

/// The telephone that its user has open: it owns the core until its input ends.
enum MainProgram {
    static func run(in directory: String, takingOver: Bool) async throws {
        let telephone = try SIPTelephone(Softphone.account(in: directory)) { Softphone.say($0) }
        let group = try await Softphone.open(directory, as: .main)
        let (rests, rest) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { tasks in
            // Also while this Main waits for the core, so that its user can answer a call that rings in an Executor.
            tasks.addTask {
                for await line in Softphone.lines() {
                    if line == "rest" { rest.yield() } else { await obey(line, telephone, group) }
                }
            }
            tasks.addTask { try await own(group, telephone, rests, takingOver: takingOver) }
            try await tasks.next()
            tasks.cancelAll()
            _ = await tasks.nextResult()  // the Main stops its core, which unregisters
        }
    }

    private static func own(
        _ group: any SharedStore, _ telephone: SIPTelephone, _ rests: AsyncStream<Void>, takingOver: Bool
    ) async throws {
        var options = Softphone.options
        options.takesBatons = [SIPTelephone.batonKind]  // a call of another process goes on here
        try await group.withMain(
            options: options, takingOver: takingOver,
            reporting: { if case .activity = $0 { Softphone.say("waits for a call of another process") } },
            core: { telephone.makeCore() }
        ) { main in
            while try await showMessages(of: main.inbox, until: rests) { try await sleep(main, telephone) }
        }
    }

    /// Shows every message of the group, whichever process received it. Returns true when the Main is to rest: its watch
    /// would wake a process that rests.
    private static func showMessages(of inbox: Inbox, until rests: AsyncStream<Void>) async throws -> Bool {
        try await withThrowingTaskGroup { tasks in
            tasks.addTask {
                for try await taken in try await inbox.deliveries() { try await Softphone.show(taken, of: inbox) }
                return false
            }
            tasks.addTask { await rests.contains { _ in true } }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? false
        }
    }

    /// Rests until the core has work. The process of `softphone hold` owns meanwhile.
    private static func sleep(_ main: MainParticipant, _ telephone: SIPTelephone) async throws {
        while true {
            try await Softphone.showAll(of: main.inbox)
            do throws(CoordinationError) {
                try await main.rest()
                break
            } catch {
                // A call or a request is open.
                guard error.code == .refused || error.code == .coreFailed else { return Softphone.say("\(error)") }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        Softphone.say("rests")
        try await telephone.waitForWork()
        try? await main.resume(for: .data)  // throws where the rest was over
        Softphone.say("awake")
    }

    /// `send ADDRESS TEXT`, `call ADDRESS`, `answer ID`, `decline ID`, `hangup ID`, `hold ID`, `resume ID`; also `rest`.
    private static func obey(_ line: String, _ telephone: SIPTelephone, _ group: any SharedStore) async {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        do {
            switch (words.first, words.count) {
            case ("send", 3):
                try await telephone.send(words[2], to: words[1])
                Softphone.say("sent")
            case ("call", 2): Softphone.say("calls: \(try await telephone.call(words[1]))")
            case (let word?, 2):
                guard let command = CallProgram.command(word), let id = CallID(words[1]) else { fallthrough }
                try await Calls(group).send(command, to: id, within: .seconds(5))
            default:
                Softphone.say("send ADDRESS TEXT, call ADDRESS, answer|decline|hangup|hold|resume ID, rest or quit")
            }
        } catch {
            Softphone.say("failed: \(error)")
        }
    }
}

/// The process that owns for a Main that rests; a real system has `sharedcore serve` or `sharedcore-holder` in its place.
enum HolderProgram {
    static func run(in directory: String) async throws {
        let group = try await Softphone.open(directory, as: .tool)
        let holder = try HolderParticipant(of: group, options: Softphone.options)
        try await holder.start()
        Softphone.say("holds")
        for await _ in Softphone.lines() {}
        await holder.stop()
        await group.close()
    }
}
