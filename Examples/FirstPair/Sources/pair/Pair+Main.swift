import Coordination
import CoreAPI
import FileNotifyBackend

extension Pair {
    /// The application that its user has open: it owns the core until somebody asks it to close.
    static func runMain(_ directory: String, _ box: LetterBox) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "pair"))
        let closing = try await group.observe("close")
        let main = try MainParticipant(of: group) { LetterCore(box: box) }
        try await main.start()
        say("Main owns the core.")
        _ = try await closing.next()
        await main.stop()
        await group.close()
    }

    /// Any process wakes it by name.
    static func close(_ directory: String) async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .tool))
        try await group.post("close")
        await group.close()
    }
}
