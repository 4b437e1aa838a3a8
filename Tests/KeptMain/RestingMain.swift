import Coordination
import CoreAPI
import FileNotifyBackend
import Glibc
import Platform
import Synchronization

/// The Main of a group, whose core is registered and can be quiet. While it is not quiet it delivers the messages of the
/// Maildir in the group's directory, by their header `Call-ID`.
struct RestingMain: Sendable {
    private final class QuietCore: Core {
        let notebook: Notebook
        let maildir: String
        let isQuiet = Atomic(false)

        init(_ notebook: Notebook, maildir: String) {
            self.notebook = notebook
            self.maildir = maildir
        }

        func start(in context: CoreContext) async throws { try notebook.write("core starts") }

        func iterate(in context: CoreContext) async throws {
            guard (try? Directory(path: maildir + "/new")) != nil else {
                // Woken by nothing.
                while !Task.isCancelled { try await Task.sleep(for: .seconds(86_400)) }
                return
            }
            while true {
                for name in isQuiet.load(ordering: .relaxed) ? [] : try Directory(path: maildir + "/new").names() {
                    try await deliver(name, in: context)
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        private func deliver(_ name: String, in context: CoreContext) async throws {
            let path = maildir + "/new/" + name
            guard let bytes = try? OpenFile(path: path, .read).read(count: 1 << 16, at: 0) else { return }
            let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            guard let line = lines.first(where: { $0.hasPrefix("Call-ID: ") }),
                let id = CallID(String(line.dropFirst(9)))
            else { return }
            try await context.deliver(
                InboxMessage(id: MessageID(id), content: .text(from: "ann", to: "bob", text: "hello")))
            _ = rename(path, maildir + "/cur/" + name + ":2,S")
            try notebook.write("delivered \(id)")
        }

        func stop() async { try? notebook.write("core stops") }
        func rest(in context: CoreContext) async throws { isQuiet.store(true, ordering: .relaxed) }

        func resume(in context: CoreContext, for wake: Wake) async throws {
            isQuiet.store(false, ordering: .relaxed)
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
        // As the programs have it.
        let environment = CoordinationEnvironment(witness: FileWitness(besideGroup: directory))
        main = try MainParticipant(of: group, options: options, environment: environment) {
            QuietCore(notebook, maildir: directory + "/Maildir")
        }
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
