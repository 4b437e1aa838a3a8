internal import ArgumentParser
internal import Platform
internal import ProgramOutput
internal import SharedCoreHost

/// The program `sharedcore-web`, which `sharedcore web` becomes with the configuration that is in force: serves a page
/// about the group.
@main
struct WebProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharedcore-web", abstract: "Show a group on a page in a browser, live.",
        discussion: """
            It prints an address of 127.0.0.1, which is valid for one browser within 60 s, and serves until SIGINT or SIGTERM. \
            SIGUSR1 has it print another address, for another browser. The group is the one of the environment and the \
            configuration file; it is read without a session.
            """)

    @Option(help: "The port of 127.0.0.1, at most 65535; 0 chooses a free one.")
    var port: UInt16 = 0

    @Option(help: "Serve at a unix socket in place of a port; its directory is made, or must have mode 0700.")
    var socket: String?

    @Flag(help: "Let the page also act. The timeline records each action.")
    var allowActions = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() async throws {
        // Without the handler, a truncated file may end this process.
        try? BusErrorHandler.install()
        ProgramStart.requireResources(for: "sharedcore-web", threadCount: 8)
        let renewals = await RenewalSignals()
        try await GroupReports.run(json: json) { reports in
            let listener =
                try socket.map { try reports.listener(path: $0) } ?? GroupReports.listener(port: port)
            let site = try Site(of: reports, at: listener, allowsActions: allowActions)
            defer { site.stop() }
            try await print(site.access.token, of: listener, reports)
            try await withThrowingTaskGroup { group in
                group.addTask { try await site.run() }
                group.addTask {
                    try await renewals.each { try await print(site.access.renew(), of: listener, reports) }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Prints the address with a token.
    private func print(_ token: String, of listener: StreamListener, _ reports: GroupReports) async throws {
        let address = listener.port.map { "http://127.0.0.1:\($0)/#\(token)" } ?? "/#\(token)"
        try await reports.print(
            text: listener.port == nil
                ? "\(listener.location) serves the page “\(address)”, which is valid once within 60 s"
                : "\(address) is valid for one browser within 60 s",
            json: [
                "event": "listening", "url": .text(address), "socket": .optional(socket), "expiresInMs": 60_000,
            ])
    }
}
