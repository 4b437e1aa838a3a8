import SharedCore

/// The application that its user has open: it owns the core from its start to its end.
enum MainProgram {
    static func run(directory: String, server: MessengerServer) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "messenger"))
        try await group.withMain(core: { MessengerCore(server: server) }) { _ in  // an Executor hands over first
            try await group.put("contacts/zoe", Array("online".utf8))  // the dictionary: get, list, watch, transactions
            try await group.post("contacts-changed")  // wakes every process that observes the name
            let closing = try await group.observe("messenger/close")
            say("Main runs the core.")
            _ = try await closing.next()  // until its user closes it
        }  // throws when the core is gone for good; on every path it is stopped and the group is closed
    }

    private static func say(_ line: String) { Messenger.say(line) }
}
