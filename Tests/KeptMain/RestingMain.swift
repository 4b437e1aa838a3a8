import Coordination
import CoreAPI
import FileNotifyBackend

/// The Main of a group, whose core is registered and can be quiet.
struct RestingMain: Sendable {
    private struct QuietCore: Core {
        let notebook: Notebook

        func start(in context: CoreContext) async throws { try notebook.write("core starts") }
        func iterate(in context: CoreContext) async throws {
            // Woken by nothing.
            while !Task.isCancelled { try await Task.sleep(for: .seconds(86_400)) }
        }
        func stop() async { try? notebook.write("core stops") }
        func rest(in context: CoreContext) async throws {}
        func resume(in context: CoreContext, for wake: Wake) async throws {
            try notebook.write("core resumes: \(wake)")
        }
    }

    private let main: MainParticipant
    private let notebook: Notebook

    init(of directory: String, _ notebook: Notebook) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "sharedcore-test-main"))
        var options = CoordinationOptions()
        options.wakeBound = .seconds(30)
        self.notebook = notebook
        main = try MainParticipant(of: group, options: options) { QuietCore(notebook: notebook) }
        try await main.start(takingOver: true)
        try notebook.write("owns")
    }

    /// Rests as soon as that is possible.
    func rest() async throws {
        while true {
            do throws(CoordinationError) {
                try await main.rest()
                break
            } catch {
                // No holder is there yet, or the core does not run yet.
                guard [.unavailable, .refused].contains(error.code) else { throw error }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try notebook.write("rests")
    }

    func resume() async throws {
        try await main.resume()
        try notebook.write("resumed")
    }
}
