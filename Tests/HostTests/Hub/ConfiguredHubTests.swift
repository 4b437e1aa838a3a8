internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

/// The automatic hub of an application, with its program beside the application or elsewhere.
@Suite("The hub of a group by configuration (decision 37)")
struct ConfiguredHubTests {
    /// Calls `body` with an application over a hub, and ends the hub.
    private func withApplication(_ body: (HostProgram) async throws -> Void) async throws {
        try await HostProgram.using("zmq") { program in
            var application = HostProgram(named: "sharedcore-test-configured", in: program.directory)
            application.environment = program.environment
            try await body(application)
        }
    }

    @Test("An application starts a hub by the program beside it, which gets nothing hostile of its environment")
    func beside() async throws {
        try await withApplication { application in
            var hostile = application
            hostile.environment["HOSTILE"] = "1"
            hostile.environment["LD_LIBRARY_PATH"] = "/nonexistent"
            hostile.environment["LANG"] = "C"
            hostile.environment["SHAREDCORE_EXECUTOR_LIMIT"] = "7"
            let ended = try await hostile.run("put", "key", "value", "zmq.lease=9s")
            #expect(ended.output == "done\n", "\(ended.output) \(ended.errors)")
            let hub = try await application.hub()
            let seen = try await application.shell("tr '\\0' '\\n' < /proc/\(hub)/environ")
            let variables = seen.output.split(separator: "\n")
            let names = Set(variables.map { String($0.prefix { $0 != "=" }) })
            #expect(
                names == [
                    "HOME", "PATH", "LANG", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "SHAREDCORE_CONFIG",
                    "SHAREDCORE_BACKEND", "SHAREDCORE_GROUP", "SHAREDCORE_STATE_DIRECTORY", "SHAREDCORE_DURABILITY",
                    "SHAREDCORE_ZMQ_ENDPOINT", "SHAREDCORE_ZMQ_HUB", "SHAREDCORE_ZMQ_LEASE",
                    "SHAREDCORE_ZMQ_SECRET_KEY", "SHAREDCORE_ZMQ_HUB_KEY", "SHAREDCORE_ZMQ_CLIENT_KEYS",
                ])
            #expect(variables.contains("SHAREDCORE_CONFIG=/dev/null") && variables.contains("SHAREDCORE_ZMQ_LEASE=9s"))
            #expect(try await application.run("get", "key").output == "value\n")
            #expect(try await application.hub() == hub)
        }
    }

    @Test("A reader starts no hub: it reads the files that one would serve, and finds no group in memory")
    func reader() async throws {
        try await withApplication { application in
            #expect(try await application.run("put", "key", "value").output == "done\n")
            _ = try await application.shell("SHAREDCORE_BACKEND=zmq sharedcore hub --stop")
            #expect(try await application.run("get", "key").output == "value\n")
            let memory = try await application.run("get", "key", "zmq.storage=memory")
            #expect(memory.output.hasPrefix("error unavailable"), "\(memory.output)")
            #expect(try await application.shell("SHAREDCORE_BACKEND=zmq sharedcore hub --stop").status == 1, "none")
        }
    }

    /// Lets a copy of the application put a value. No program is in the same folder as the copy.
    private func put(_ search: String, behind preparation: String = ":", in application: HostProgram) async throws
        -> HostProgram.Ended
    {
        try await application.shell(
            """
            built=$(dirname "$(command -v sharedcore)"); mkdir -p alone here
            cp "$built/sharedcore-test-configured" alone/; \(preparation)
            PATH=\(search) exec alone/sharedcore-test-configured put key value
            """)
    }

    private static let trap = "printf '#!/bin/sh\\ntouch trapped\\n' > $place/sharedcore; chmod 755 $place/sharedcore"

    @Test("The search in PATH skips empty and relative entries")
    func search() async throws {
        try await withApplication { application in
            let traps = "for place in . here; do \(Self.trap); done"
            let ended = try await put("\":here:.:$PWD/none:$built::/bin\"", behind: traps, in: application)
            #expect(ended.output == "done\n", "\(ended.output) \(ended.errors)")
            #expect(try await application.shell("test -e trapped").status == 1)
        }
    }

    @Test("Without a program, the error says where it was looked for")
    func none() async throws {
        try await withApplication { application in
            let ended = try await put("$PWD/here:/nonexistent", in: application)
            #expect(ended.output.hasPrefix("error unavailable [sharedcore]"), "\(ended.output)")
            for place in ["alone/sharedcore", "here/sharedcore", "/nonexistent/sharedcore"] {
                #expect(ended.output.contains("\(place)"), "\(ended.output)")
            }
        }
    }

    @Test("If a hub serves already, no program to start one is needed")
    func served() async throws {
        try await withApplication { application in
            let first = try await application.run("put", "key", "first")
            let second = try await put("/nonexistent", in: application)
            #expect(first.output == "done\n" && second.output == "done\n", "\(first.output) \(second.output)")
        }
    }

    @Test("The first program along PATH is refused where others may write it, and is not passed over")
    func writable() async throws {
        try await withApplication { application in
            let preparation = "place=here; \(Self.trap); chmod o+w here/sharedcore"
            let ended = try await put("\"$PWD/here:$built\"", behind: preparation, in: application)
            #expect(ended.output.hasPrefix("error forbidden ["), "\(ended.output)")
            #expect(ended.output.contains("here/sharedcore]"), "\(ended.output)")
            #expect(try await application.shell("test -e trapped").status == 1)
        }
    }

    @Test(
        "The program of another user is refused, and so is a link of one",
        .enabled(if: getuid() == 0, "it takes root to give a file away"))
    func foreign() async throws {
        try await withApplication { application in
            for preparation in [
                "place=here; \(Self.trap); chown 65534 here/sharedcore",
                "ln -sf \"$built/sharedcore\" here/sharedcore; chown -h 65534 here/sharedcore",
            ] {
                let ended = try await put("\"$PWD/here:$built\"", behind: preparation, in: application)
                #expect(ended.output.hasPrefix("error forbidden ["), "\(ended.output)")
                #expect(ended.output.contains("user 65534"), "\(ended.output)")
            }
            #expect(try await application.shell("test -e trapped").status == 1)
        }
    }

    @Test("If the application names a program, that program starts the hub")
    func named() async throws {
        try await withApplication { application in
            let ended = try await application.shell(
                """
                printf '#!/bin/sh\\ntouch "'"$PWD"'/named"\\nexec "%s" "$@"\\n' "$(command -v sharedcore)" > starter; chmod 755 starter
                exec sharedcore-test-configured put key value --program starter
                """)
            #expect(ended.output == "done\n", "\(ended.output)")
            #expect(try await application.shell("test -e named").status == 0)
        }
    }
}
