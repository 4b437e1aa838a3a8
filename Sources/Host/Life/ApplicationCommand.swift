internal import ArgumentParser
internal import CoreAPI
internal import Lifecycle
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `application`: sets an application's lifecycle state on its behalf.
struct ApplicationCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "application", abstract: "Publish the state of an application that does not publish it itself.",
        discussion: HelpPage.text(
            """
            The group keeps the state until the session ends, or until the application publishes its own. \
            “sharedcore status” shows it. Status 1 when there is no such application. \
            Docs/Guide/BackgroundLife.md says more.
            """, examples: ["sharedcore application background"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(
        help: "foreground, background or suspended.", completion: .list(["foreground", "background", "suspended"]),
        transform: Self.state)
    var state: ApplicationState

    @Option(help: "The session of the application, as “sharedcore status” shows it; without it, Main's.")
    var session: UInt64?

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "application") { group in
            let session =
                if let session { SessionID(rawValue: session) } else { try await Self.main(of: group) }
            guard let revision = try await ApplicationStates(group).set(state, of: session) else {
                throw CommandFailure(.no, "there is no session \(session)")
            }
            try await context.output.confirm(
                text: "session \(session): \(state)",
                json: [
                    "session": .text(session.description), "state": .text(state.rawValue),
                    "revision": .natural(revision.rawValue),
                ])
        }
    }

    private static func state(_ text: String) throws -> ApplicationState {
        if let state = ApplicationState(rawValue: text) { return state }
        throw ValidationError("“\(text)” is no state; it must be foreground, background or suspended.")
    }

    private static func main(of group: any SharedStore) async throws -> SessionID {
        let mains = try await group.sessions().filter { $0.role == .main }
        guard let main = mains.first else { throw CommandFailure(.no, "there is no Main") }
        guard mains.count == 1 else {
            throw CommandFailure(
                .no,
                "there are several Mains: choose by --session one of "
                    + mains.map(\.id.description).joined(separator: ", "))
        }
        return main.id
    }
}
