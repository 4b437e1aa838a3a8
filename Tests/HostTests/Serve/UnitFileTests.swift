internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("The units for the user's service manager")
struct UnitFileTests {
    private static let analyzer = "/usr/bin/systemd-analyze"
    private static let units = [
        "sharedcore.service", "sharedcore-hub.service", "sharedcore-holder.service", "sharedcore-web.service",
    ]

    private func text(of unit: String) throws -> String {
        let path = #filePath.components(upTo: "Tests") + "Examples/systemd/" + unit
        return try String(contentsOf: URL(filePath: path), encoding: .utf8)
    }

    /// The answer of the service manager's own reader to a unit.
    private func verify(_ text: String) async throws -> (end: ProgramEnd, problems: String) {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "sharedcore.service")
        // The unit starts the program that a user has installed. Here any program will do.
        let installed = text.replacing("%h/.local/bin/sharedcore-holder", with: "/bin/true")
            .replacing("%h/.local/bin/sharedcore", with: "/bin/true")
        try Data(installed.utf8).write(to: URL(filePath: path))
        let check = try ChildProcess(
            Self.analyzer, ["verify", "--user", "--man=no", path],
            environment: ["XDG_RUNTIME_DIR": directory.path], errors: directory.path(of: "problems"))
        let end = await check.end()
        return (end, (try? String(contentsOf: URL(filePath: directory.path(of: "problems")), encoding: .utf8)) ?? "")
    }

    @Test(
        "systemd reads it without a word, and finds what is wrong with another",
        .enabled(if: access(analyzer, X_OK) == 0, "the package systemd is not installed"), arguments: units)
    func verified(unit: String) async throws {
        let text = try text(of: unit)
        let right = try await verify(text)
        #expect(right.end == .exited(0) && right.problems.isEmpty, "\(right.problems)")
        let wrong = try await verify(text.replacing("RestartSec", with: "RestartSex"))
        #expect(wrong.problems.contains("RestartSex"), "\(wrong.problems)")
    }

    @Test(
        "A unit leaves its program no more than it needs, as systemd rates it, and the rating notices when that changes",
        .enabled(if: access(analyzer, X_OK) == 0, "the package systemd is not installed"), arguments: units)
    func exposure(unit: String) async throws {
        let text = try text(of: unit)
        let open = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("SystemCallFilter") && !$0.hasPrefix("Restrict") }.joined(separator: "\n")
        for (unit, end) in [(text, ProgramEnd.exited(0)), (open, .exited(1))] {
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "sharedcore.service")
            try Data(unit.utf8).write(to: URL(filePath: path))
            // In tenths.
            let check = try ChildProcess(
                Self.analyzer, ["security", "--user", "--offline=yes", "--threshold=70", "--no-pager", path],
                environment: ["XDG_RUNTIME_DIR": directory.path])
            #expect(await check.end() == end, "\(check.lines.suffix(1))")
        }
    }

    @Test("E2: a unit keeps from its program what the threat model says, and makes no core dump", arguments: units)
    func directives(unit: String) throws {
        let lines = try text(of: unit).split(separator: "\n").map(String.init)
        for line in [
            "LimitCORE=0", "RestrictNamespaces=yes",
            "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "NoNewPrivileges=yes", "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged",
        ] { #expect(lines.contains(line)) }
        // The holder talks to its keeper alone.
        let families = unit == "sharedcore-holder.service" ? "AF_UNIX" : "AF_UNIX AF_INET AF_INET6 AF_NETLINK"
        #expect(lines.contains("RestrictAddressFamilies=" + families))
        // A user's manager can provide these only with a user namespace.
        for name in ["ProtectSystem=", "PrivateTmp="] { #expect(!lines.contains { $0.hasPrefix(name) }) }
    }
}

extension String {
    /// The beginning of a path, up to a folder.
    fileprivate func components(upTo folder: String) -> String {
        let parts = split(separator: "/", omittingEmptySubsequences: false)
        return parts.prefix { $0 != folder }.joined(separator: "/") + "/"
    }
}
