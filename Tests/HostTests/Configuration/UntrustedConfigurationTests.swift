internal import Glibc
internal import Testing

/// A configuration names programs to run and sockets to talk to: its writer acts as the caller.
@Suite("Configuration files of strangers (contract E2)")
struct UntrustedConfigurationTests {
    /// The way by which a program finds a file.
    enum Way: String, CaseIterable {
        case here, flag, variable, personal

        var file: String {
            switch self {
            case .here: "sharedcore.yaml"
            case .flag, .variable: "named.yaml"
            case .personal: "config/sharedcore/config.yaml"
            }
        }

        /// The beginning of a command that reads it.
        var command: String {
            switch self {
            case .here, .personal: "sharedcore"
            case .flag: "sharedcore --config named.yaml"
            case .variable: "SHAREDCORE_CONFIG=named.yaml sharedcore"
            }
        }
    }

    private static let isRoot = getuid() == 0
    private static let stranger = "setpriv --reuid 65534 --regid 65534 --clear-groups"

    /// Runs the program after a change of its file.
    private func validate(_ way: Way, after change: String) async throws -> HostProgram.Ended {
        let program = try HostProgram()
        try program.makeDirectory("config/sharedcore")
        try program.write("group: theirs\n", to: way.file)
        return try await program.shell(
            "file=\(way.file); \(change); timeout 20 env \(way.command) config validate")
    }

    private func expectRefusal(
        _ ended: HostProgram.Ended, naming parts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(ended.status == 78, "\(ended.output) \(ended.errors)", sourceLocation: sourceLocation)
        #expect(ended.errors.split(separator: "\n").count == 1, sourceLocation: sourceLocation)
        for part in parts { #expect(ended.errors.contains(part), "\(ended.errors)", sourceLocation: sourceLocation) }
    }

    @Test("A FIFO in the file's place is refused at once", arguments: Way.allCases)
    func pipe(way: Way) async throws {
        expectRefusal(
            try await validate(way, after: "rm $file; mkfifo $file"), naming: [way.file, "is not a regular file"])
    }

    @Test("A file that others may write is refused", arguments: Way.allCases)
    func writable(way: Way) async throws {
        expectRefusal(
            try await validate(way, after: "chmod 644 $file; chmod o+w $file"), naming: [way.file, "chmod go-w"])
    }

    @Test(
        "A file that its group may write is refused, also where the group is root's",
        .enabled(if: isRoot, "it takes root to give a file to a group"))
    func writableForGroup() async throws {
        for way in Way.allCases {
            for group in [65534, 0] {
                expectRefusal(
                    try await validate(way, after: "chgrp \(group) $file; chmod 664 $file"),
                    naming: [way.file, "chmod go-w"])
            }
        }
    }

    @Test("A file of another user is refused", .enabled(if: isRoot, "it takes root to give a file away"))
    func foreign() async throws {
        for way in Way.allCases {
            expectRefusal(
                try await validate(way, after: "chown 65534 $file"), naming: [way.file, "belongs to user 65534"])
        }
    }

    @Test(
        "A link of another user is refused, one's own is followed",
        .enabled(if: isRoot, "it takes root to give a file away"))
    func link() async throws {
        let own = "mv $file real.yaml; ln -s \"$PWD/real.yaml\" $file"
        #expect(try await validate(.here, after: own).status == 0)
        expectRefusal(
            try await validate(.here, after: own + "; chown -h 65534 $file"), naming: ["belongs to user 65534"])
        // On the way to it as well.
        let program = try HostProgram()
        try program.makeDirectory("real")
        try program.write("group: theirs\n", to: "real/sharedcore.yaml")
        let show = "sharedcore --config way/sharedcore.yaml config show"
        #expect(try await program.shell("ln -s real way; \(show)").status == 0)
        expectRefusal(
            try await program.shell("chown -h 65534 way; \(show)"),
            naming: ["way/sharedcore.yaml", "belongs to user 65534"])
        // A combining mark beside the slash makes one character of both.
        for name in ["way\u{600}/sharedcore.yaml", "way/\u{301}.yaml", "\u{301}way/sharedcore.yaml"] {
            let parts = name.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
            try program.write("group: theirs\n", to: "real/\(parts[1])")
            let show = "sharedcore --config '\(name)' config show"
            #expect(
                try await program.shell("ln -s real '\(parts[0])' || true; chown -h 0 '\(parts[0])'; \(show)").status
                    == 0)
            expectRefusal(
                try await program.shell("chown -h 65534 '\(parts[0])'; \(show)"), naming: ["belongs to user 65534"])
        }
    }

    @Test(
        "A user takes the own file and that of root, and no third user's",
        .enabled(if: isRoot, "it takes root to act as another user"), arguments: [(65534, 0), (0, 0), (65533, 78)])
    func otherUser(owner: Int, status: Int32) async throws {
        let program = try HostProgram()
        try program.write("group: theirs\n", to: "sharedcore.yaml")
        let ended = try await program.shell(
            """
            chmod 755 .; chmod 644 sharedcore.yaml; chown \(owner) sharedcore.yaml
            exec \(Self.stranger) "$(command -v sharedcore)" config show
            """)
        #expect(ended.status == status, "\(ended.errors)")
        #expect(ended.output.contains("theirs") == (status == 0))
        #expect(ended.errors.contains("belongs to user \(owner)") == (status != 0))
    }

    @Test("A pipe that the caller made itself can be named")
    func ownPipe() async throws {
        let program = try HostProgram()
        let ended = try await program.shell("sharedcore --config <(sleep 0.2; echo 'group: piped') config show")
        #expect(ended.status == 0 && ended.output.contains("piped"), "\(ended.errors)")
    }
}
