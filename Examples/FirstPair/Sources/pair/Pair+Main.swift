import Coordination
import CoreAPI
import FileNotifyBackend

extension Pair {
    /// The application that its user has open: it owns the core until it is asked to close.
    static func runMain(_ directory: String, _ box: LetterBox) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "pair"))
        try await group.withMain(core: { LetterCore(box: box) }) { _ in
            let closing = try await group.observe("close")
            say("Main owns the core.")
            _ = try await closing.next()
        }
    }

    /// Any process wakes it by name.
    static func close(_ directory: String) async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .tool))
        try await group.post("close")
        await group.close()
    }
}
