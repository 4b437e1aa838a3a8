import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation

/// The application that its user has open: it owns the core from its start to its end.
enum MainProgram {
    static func run(directory: String, server: MessengerServer) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "messenger"))
        try await group.put("contacts/zoe", Array("online".utf8))  // the dictionary: get, list, watch, transactions
        try await group.post("contacts-changed")  // wakes every process that observes the name
        let main = try MainParticipant(of: group) { MessengerCore(server: server) }
        try await main.start()  // an Executor that owns hands over first
        say("Main runs the core.")
        while readLine() != nil {}  // until its user closes it
        await main.stop()
        await group.close()
    }

    private static func say(_ line: String) { Messenger.say(line) }
}
