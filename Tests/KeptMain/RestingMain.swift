import Coordination
import CoreAPI
import FileNotifyBackend
import Glibc
import Platform
import Synchronization
import TestSupport

/// The Main of a group, with a core that can be quiet.
///
/// With a registrar the core is a contact there, and delivers each call that comes while it is not quiet.
struct RestingMain: Sendable {
    private final class QuietCore: Core {
        let notebook: Notebook
        let registrar: String?
        let contact = Mutex<Contact?>(nil)
        let isQuiet = Atomic(false)

        init(_ notebook: Notebook, registrar: String?) {
            self.notebook = notebook
            self.registrar = registrar
        }

        func start(in context: CoreContext) async throws {
            if let registrar {
                let new = try Contact("main", at: registrar)
                contact.withLock { $0 = new }
            }
            try notebook.write("core starts")
        }

        func iterate(in context: CoreContext) async throws {
            guard let contact = contact.withLock({ $0 }) else {
                // Nothing wakes this.
                while !Task.isCancelled { try await Task.sleep(for: .seconds(86_400)) }
                return
            }
            while true {
                if !isQuiet.load(ordering: .relaxed), let call = contact.nextCall(), let id = CallID(call) {
                    try await context.deliver(
                        InboxMessage(id: MessageID(id), content: .text(from: "ann", to: "bob", text: "hello")))
                    try notebook.write("delivered \(id)")
                    try contact.tookCall(call)
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        func stop() async {
            contact.withLock { $0 }?.leave()
            try? notebook.write("core stops")
        }

        func rest(in context: CoreContext) async throws { isQuiet.store(true, ordering: .relaxed) }

        func resume(in context: CoreContext, for wake: Wake) async throws {
            isQuiet.store(false, ordering: .relaxed)
            try notebook.write("core resumes: \(wake)")
        }
    }

    private let main: MainParticipant
    private let notebook: Notebook

    init(of directory: String, _ notebook: Notebook, registrar: String?) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .main, name: "sharedcore-test-main"))
        var options = CoordinationOptions()
        options.wakeBound = .seconds(30)
        self.notebook = notebook
        // As the programs have it.
        let environment = CoordinationEnvironment(witness: FileWitness(besideGroup: directory))
        main = try MainParticipant(of: group, options: options, environment: environment) {
            QuietCore(notebook, registrar: registrar)
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
