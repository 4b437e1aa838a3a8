internal import Glibc
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

/// Backups at the shell.
@Suite("The commands of backups")
struct BackupCommandTests {
    @Test("compact frees the unneeded space of the journal, loses nothing, and is on the timeline with the user")
    func compact() async throws {
        try await HostProgram.using("file") { program in
            let text = String(repeating: "x", count: 50_000)
            for number in 0..<8 { _ = try await program.run("put", "key", "\(number)" + text) }
            let compacted = try await program.run("compact", "--json")
            let receipt = try #require(try compacted.objects().first)
            guard case .object(let before) = receipt["before"], case .object(let after) = receipt["after"],
                case .number(let long) = before["diskBytes"], case .number(let short) = after["diskBytes"]
            else {
                Issue.record("\(compacted)")
                return
            }
            #expect(short + 200_000 < long)
            #expect(try await program.run("get", "key").output.hasPrefix("7x"))
            let told = try await program.run("timeline", "--json").objects().compactMap { $0["reason"] }
            #expect(told == [.text("user \(OwnProcess.user) has the journal compacted")])
            #expect(try await program.run("check").status == 0)
            #expect(try await program.run("compact", "--group", "mistyped").status == 1)
        }
    }

    @Test("A group is backed up to a directory and restored, and continues above all revisions (contract S16)")
    func roundTrip() async throws {
        let program = try HostProgram()
        _ = try await program.run("store", "put", "k", "first")
        let written = try await program.run("backup", "copy", "--json")
        #expect(written.status == 0, "\(written.errors)")
        #expect(try written.objects().first?["keys"] == .number(1))
        #expect(try written.objects().first?["directory"] == .text(program.directory.path(of: "copy")))
        _ = try await program.run("store", "put", "k", "second")
        let again = try await program.run("backup", "copy")
        #expect(again.status == 64 && again.errors.contains("not there yet or is empty"), "\(again.errors)")

        #expect(try await program.run("restore", "copy").status == 0)
        #expect(try await program.run("store", "get", "k").output == "first")
        let other = try await program.run("restore", "copy", "--group", "other", "--json")
        #expect(other.status == 0, "\(other.errors)")
        #expect(try await program.run("store", "get", "k", "--group", "other").output == "first")
        for command in ["restore", "salvage"] {
            let absent = try await program.run(command, "nowhere")
            #expect(absent.status == 69 && absent.errors.contains("There is no such directory"), "\(absent.errors)")
        }
        let found = try await program.run("salvage", "copy")
        #expect(found.status == 0 && found.output.hasPrefix("found in "), "\(found.output)")
    }

    @Test("On a read-only mount each command says so, and how to get a backup; status 78")
    func readOnlyMount() async throws {
        let script = """
            mkdir -p state/sharedcore
            mount -t tmpfs -o size=8m,mode=700 none state/sharedcore || exit 9
            sharedcore store put k v > /dev/null && mount -o remount,ro state/sharedcore || exit 8
            sharedcore store get k
            for command in "store put k w" "backup copy" "backup state/sharedcore/copy"; do
                sharedcore $command > /dev/null 2> errors
                echo " $? $(grep -c 'mounted read-only' errors) $(grep -c 'has owner' errors)"
            done
            sharedcore backup copy 2>&1 | grep -o 'sharedcore salvage.*copy' > salvage
            sh salvage > /dev/null; echo $? $(ls copy | wc -l)
            """
        let program = try HostProgram()
        try program.write(script, to: "script.sh")
        let unshare = geteuid() == 0 ? "unshare --mount" : "unshare --user --map-root-user --mount"
        let ended = try await program.shell("\(unshare) bash script.sh")
        #expect(ended.output == "v 78 1 0\n 78 1 0\n 78 1 0\n0 2\n", "\(ended.output) \(ended.errors)")
    }

    @Test("A group that a process has open stays as it is: status 69")
    func inUse() async throws {
        let program = try HostProgram()
        _ = try await program.run("store", "put", "k", "first")
        _ = try await program.run("backup", "copy")
        let main = try await program.running("main") { main in
            try await main.untilOutput(has: 1)
            let refused = try await program.run("restore", "copy")
            #expect(refused.status == 69 && refused.errors.contains("have the group open"), "\(refused.errors)")
            try main.send(.terminate)
        }
        #expect(main.status == 0, "\(main.errors)")
        #expect(try await program.run("restore", "copy").status == 0)
    }

    @Test("A group behind a hub on files is written while the hub serves, and comes back when it has ended")
    func hub() async throws {
        try await HostProgram.using("zmq") { program in
            _ = try await program.run("store", "put", "k", "first")
            #expect(try await program.run("backup", "copy").status == 0)
            _ = try await program.run("store", "put", "k", "second")
            let refused = try await program.run("restore", "copy")
            #expect(refused.status == 69, "\(refused.errors)")
            #expect(try await program.run("store", "get", "k").output == "second")
            #expect(try await program.run("hub", "--stop").status == 0)
            #expect(try await program.run("restore", "copy").status == 0)
            #expect(try await program.run("store", "get", "k").output == "first")
        }
    }

    @Test("The files of a group's directory are not taken for the group of a hub that serves its memory: status 69")
    func hubOnMemory() async throws {
        try await HostProgram.using("zmq") { program in
            _ = try await program.run("store", "put", "k", "in a file")
            #expect(try await program.run("backup", "copy").status == 0)
            #expect(try await program.run("hub", "--stop").status == 0)
            var other = program
            other.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
            #expect(try await other.run("store", "put", "k", "in memory").status == 0)
            for command in [["backup", "other"], ["restore", "copy"]] {
                let refused = try await program.run(command)
                #expect(refused.status == 69 && refused.errors.contains("serves its own memory"), "\(refused.errors)")
            }
            #expect(try await other.run("store", "get", "k").output == "in memory")
            #expect(try await program.run("hub", "--stop").status == 0)
            #expect(try await program.run("restore", "copy").status == 0)
            #expect(try await program.run("store", "get", "k").output == "in a file")
        }
    }

    @Test("Salvage reports the missing parts of a damaged group with status 1, and restores the others")
    func damaged() async throws {
        let program = try HostProgram()
        for number in 0..<3 { _ = try await program.run("store", "put", "k\(number)", "v") }
        try program.write("", to: "state/sharedcore/default/sessions")
        let refused = try await program.run("restore", "state/sharedcore/default", "--group", "other")
        #expect(refused.status == 69 || refused.status == 78, "\(refused.errors)")
        #expect(refused.errors.contains("sharedcore salvage"))
        let left = try await program.run("salvage", "state/sharedcore/default", "--into", "left", "--json")
        #expect(left.status == 1, "\(left.errors)")
        #expect(try left.objects().first?["event"] == .text("missing"))
        #expect(try left.objects().last?["keys"] == .number(3))
        #expect(try await program.run("restore", "left", "--group", "other").status == 0)
        #expect(try await program.run("store", "get", "k2", "--group", "other").output == "v")
    }

    @Test("A backend without files here is refused with status 64, and an absent group with status 1")
    func unsupported() async throws {
        let program = try HostProgram()
        for command in [["backup", "copy"], ["restore", "copy"]] {
            let refused = try await program.run(command + ["--backend", "memory"])
            #expect(refused.status == 64 && refused.errors.contains("files of this machine"), "\(refused.errors)")
        }
        #expect(try await program.run("backup", "copy", "--group", "mistyped").status == 1)
        let port = ["SHAREDCORE_BACKEND": "zmq", "SHAREDCORE_ZMQ_ENDPOINT": "tcp://127.0.0.1:5555"]
        var behindPort = program
        behindPort.environment.merge(port) { _, new in new }
        let refused = try await behindPort.run("backup", "copy")
        #expect(refused.status == 64 && refused.errors.contains("give --backend file"), "\(refused.errors)")
        #expect(try await program.shell("mkdir real; ln -s real link").status == 0)
        for (name, problem) in [("nothing", "There is no such directory"), ("link", "is a symbolic link")] {
            for command in ["restore", "salvage"] {
                let ended = try await program.run(command, name)
                #expect(ended.status == 69 && ended.errors.contains(problem), "\(ended.errors)")
            }
        }
    }
}
