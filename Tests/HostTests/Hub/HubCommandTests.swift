internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("Hubs that are started and ended", .serialized)
struct HubCommandTests {
    @Test("The first client starts a hub, which continues alone: a daemon that inherits nothing from its starter")
    func daemon() async throws {
        try await HostProgram.using("zmq") { program in
            // A daemon that kept its starter's output would keep this run from ending.
            let put = try await program.shell("exec 7<> kept; sharedcore store put k v")
            #expect(put.status == 0, "\(put.errors)")
            #expect(put.errors.isEmpty)
            let hub = try await program.hub()
            let process = try #require(ProcessIdentity(of: hub))
            let seen = try await program.shell(
                """
                readlink /proc/\(hub)/fd/0 /proc/\(hub)/fd/1 /proc/\(hub)/fd/2 /proc/\(hub)/cwd
                # The two ends of its own pipe, for signals, are no inheritance.
                ls -l /proc/\(hub)/fd | grep -o -e kept -e 'pipe:.*' | sort | uniq -u | grep -c .
                ps -o sid=,tty= -p \(hub)
                """)
            let lines = seen.output.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
            #expect(lines.prefix(4) == ["/dev/null", "/dev/null", "\(program.socket).log", "/"], "\(seen.output)")
            #expect(lines.dropFirst(4).first == "0", "\(seen.output)")
            #expect(lines.last?.split(separator: " ") == ["\(hub)", "?"], "\(seen.output)")
            #expect(try await program.beside(".log").contains("listens at ipc://\(program.socket)"))

            #expect(try await program.run("store", "get", "k").output == "v")
            #expect(try await program.hub() == hub, "the second client found the hub of the first")
            let stopped = try await program.run("hub", "--stop", "--json")
            #expect(try stopped.objects() == [["event": .text("stopped"), "pid": .number(UInt64(hub))]])
            #expect(process.liveness == .dead)
            let none = try await program.run("hub", "--stop")
            #expect(none.status == 1 && none.errors.contains("no hub serves at ipc://\(program.socket)"))
        }
    }

    @Test("C7: where the hub is stopped, a command that has a deadline gives up before one that has none")
    func stoppedHub() async throws {
        try await HostProgram.using("zmq") { program in
            #expect(try await program.run("store", "put", "k", "v").status == 0)
            let hub = try await program.hub()
            #expect(kill(hub, SIGSTOP) == 0)
            defer { kill(hub, SIGCONT) }
            let patient = try await program.running("store", "put", "k", "later") { _ in
                try await withThrowingTaskGroup(of: HostProgram.Ended.self) { group in
                    for arguments in [
                        ["executor", "--call-id", "1@x", "--timeout", "1s"],
                        ["mailbox", "take", "jobs", "--timeout", "1s"],
                        ["mailbox", "listen", "box", "--timeout", "1s"],
                        ["notify", "observe", "news", "--timeout", "1s"],
                    ] {
                        group.addTask { try await program.run(arguments) }
                    }
                    for try await ended in group {
                        #expect(ended.status == 69 && ended.errors.contains("cannot be opened"), "\(ended.errors)")
                    }
                }
                for role in ["main", "executor"] {
                    let ended = try await program.run(
                        "exclusive", "--role", role, "--no-wait", "--refused-status", "75", "--", "echo", "never")
                    #expect(ended.status == 125 && ended.output.isEmpty, "\(ended)")
                    #expect(ended.errors.contains("cannot be opened"), "\(ended.errors)")
                }
                kill(hub, SIGCONT)
            }
            #expect(patient.status == 0, "\(patient.errors)")
        }
    }

    @Test(
        "S11: a hub whose lock's name is something else than a file's is not started, and says what it is",
        .timeLimit(.minutes(10)))
    func otherKindOfLock() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        for (make, kind) in [("mkfifo", "a FIFO"), ("mkdir", "a directory"), ("ln -s elsewhere", "a symbolic link")] {
            let ended = try await program.shell(
                """
                umask 077; mkdir -p state/sharedcore/default; \(make) state/sharedcore/default/hub.lock
                sharedcore hub; status=$?
                rm -r state/sharedcore/default/hub.lock; exit $status
                """)
            #expect(ended.status != 0 && ended.errors.contains("This is \(kind)"), "\(ended.errors)")
        }
    }

    @Test(
        "hub --stop signals no process that a lock names and that does not hold it",
        .enabled(if: getuid() == 0, "it takes root to act as another user"),
        arguments: [
            ("setpriv --reuid 65534 --regid 65534 --clear-groups", 78, "belongs to user 65534"),
            ("", 69, "does not hold it"),
        ])
    func strangersLock(user: String, status: Int32, problem: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "ipc://\(program.directory.path)/place/hub"
        let ended = try await program.shell(
            """
            chmod 755 .; mkdir -m 700 place
            [ -z "\(user)" ] || chown 65534:65534 place
            \(user) "$(command -v sharedcore)" hub 2>said & hub=$!
            until grep -q listens said; do kill -0 $hub || exit 1; sleep 0.02; done
            sleep 600 & victim=$!
            read -r _ _ boot _ <place/hub.lock
            echo "$victim $(cut -d ' ' -f 22 /proc/$victim/stat) $boot + 0 0" >place/hub.lock
            timeout 30 sharedcore hub --stop; echo "status $?"
            grep -o 'State:.*[a-z]' /proc/$victim/status
            kill $victim $hub
            """)
        #expect(ended.output.contains("status \(status)\n"), "\(ended.output) \(ended.errors)")
        #expect(ended.output.contains("sleeping"), "the process that the lock names: \(ended.output)")
        #expect(ended.errors.contains(problem), "\(ended.errors)")
    }

    @Test(
        "E2: hub --stop believes no lock of another user, and none where others may write",
        .enabled(if: getuid() == 0, "it takes root to give a file away"),
        arguments: [("chown 65534 place/hub.lock", "belongs to user 65534"), ("chmod 722 place", "722")])
    func foreignLock(change: String, problem: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "ipc://\(program.directory.path)/place/hub"
        let ended = try await program.shell(
            """
            mkdir -m 700 place
            sharedcore hub 2>said & hub=$!
            until grep -q listens said; do kill -0 $hub || exit 1; sleep 0.02; done
            \(change)
            timeout 30 sharedcore hub --stop; echo "status $?"
            chown 0 place/hub.lock; chmod 700 place
            timeout 30 sharedcore hub --stop >/dev/null; echo "then $?"
            wait $hub
            """)
        #expect(ended.output == "status 78\nthen 0\n", "\(ended.output) \(ended.errors)")
        #expect(ended.errors.contains(problem), "\(ended.errors)")
    }

    @Test("A command that reads finds the group of a hub whose directory is another one's")
    func groupElsewhere() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "ipc://\(program.directory.path)/place/hub"
        let ended = try await program.shell(
            """
            mkdir -m 700 place
            sharedcore store get k; echo "status $?"
            sharedcore --state-directory "$PWD/elsewhere" hub 2>said & hub=$!
            until grep -q listens said; do kill -0 $hub || exit 1; sleep 0.02; done
            sharedcore store put k v >/dev/null && sharedcore store get k
            kill $hub; wait $hub
            """)
        #expect(ended.output == "status 1\nv", "\(ended.output) \(ended.errors)")
        #expect(!TemporaryDirectory.names(in: program.directory.path).contains("state"), "no group was made")
    }

    @Test("Many clients at once start one hub")
    func crowd() async throws {
        let count = TestScope.isAtLength ? 100 : TestScope.isCheck ? 40 : 20
        try await HostProgram.using("zmq") { program in
            let ended = try await program.shell(
                """
                for number in $(seq \(count)); do sharedcore store put k$number v >/dev/null & done
                wait
                sharedcore store list | wc -l
                """)
            #expect(ended.output == "\(count)\n", "\(ended.errors)")
            #expect(ended.errors.isEmpty)
            let log = try await program.beside(".log")
            #expect(log.split(separator: "\n").filter { $0.contains("listens at") }.count == 1, "\(log)")
        }
    }

    @Test("A hub runs until a signal, says where it listens, and a second one is refused with status 69")
    func foreground() async throws {
        try await HostProgram.using("zmq") { program in
            let ended = try await program.running("hub") { hub in
                try await hub.untilErrors(contain: "listens at ipc://\(program.socket)")
                #expect(try await program.hub() == hub.pid)
                let second = try await program.run("hub")
                #expect(second.status == 69)
                #expect(
                    second.errors.contains("Another hub serves there already, process \(hub.pid)."), "\(second.errors)")
                #expect(second.errors.split(separator: "\n").count == 1)
                #expect(try await program.run("store", "put", "k", "v").status == 0)
                try hub.send(.terminate)
            }
            #expect(ended.status == 0)
            #expect(ended.output.isEmpty)
        }
    }

    @Test(
        "A hub whose group's files are removed ends with 69, and so do its clients, which hear of it from the next one")
    func filesRemoved() async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            // Beside the group, so that the files that the hub leaves there outlast it.
            try program.makeDirectory("run")
            try Directory.setPermissions(0o700, ofPath: program.directory.path(of: "run"))
            program.environment["XDG_RUNTIME_DIR"] = program.directory.path(of: "run")
            let client = program
            let ended = try await program.running("hub") { hub in
                try await hub.untilErrors(contain: "listens at ipc://")
                let main = try await client.running("main") { main in
                    try await main.untilOutput(has: 1)
                    Directory.removeWithFiles(path: client.directory.path(of: "state/sharedcore/default"))
                }
                #expect(main.status == 69, "\(main.errors)")
            }
            #expect(ended.status == 69 && ended.errors.contains("were removed or replaced"), "\(ended.errors)")
            #expect(try await client.run("store", "put", "k", "v").status == 0)
            #expect(try await client.run("hub", "--stop").status == 0)
        }
    }

    @Test("A hub that was killed is followed by another, started by the next client; nothing is lost")
    func killed() async throws {
        try await HostProgram.using("zmq") { program in
            #expect(try await program.run("store", "put", "k", "v").status == 0)
            let first = try await program.hub()
            #expect(Glibc.kill(first, SIGKILL) == 0)
            // A client of a hub that ends at this moment waits for its answer until the time limit.
            try await eventually("it has ended") {
                OpenFile.text(of: "/proc/\(first)/stat")?.contains(") Z ") ?? true
            }
            let got = try await program.run("store", "get", "k")
            #expect(got.output == "v", "\(got.errors)")
            #expect(try await program.hub() == first, "a reader starts none")
            #expect(try await program.run("store", "put", "k", "w").status == 0)
            #expect(try await program.hub() != first)
        }
    }

    @Test("A hub on memory at a port is not found by --stop, which says so, with status 69, and how to end it")
    func stopOnMemory() async throws {
        try await HostProgram.using("zmq") { original in
            var changed = original
            // A port below those that the system assigns by itself.
            let port = UInt16.random(in: 20_000..<30_000)
            changed.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:\(port)"
            changed.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
            let program = changed
            let hub = try await program.running("hub") { hub in
                try await hub.untilErrors(contain: "listens at tcp://127.0.0.1:\(port)")
                let refused = try await program.run("hub", "--stop")
                #expect(refused.status == 69, "\(refused.errors)")
                #expect(refused.errors.contains("End it where it was started"), "\(refused.errors)")
                #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
                #expect(try await program.run("store", "put", "k", "v").status == 0, "it goes on")
                try hub.send(.terminate)
            }
            #expect(hub.status == 0, "\(hub.errors)")
            let none = try await program.run("hub", "--stop")
            #expect(none.status == 1 && none.errors.contains("no hub serves at tcp://127.0.0.1:\(port)"))
        }
    }

    @Test("A hub at a port reports its state to the service manager; killed and restarted by it, it continues")
    func managed() async throws {
        try await HostProgram.using("zmq") { original in
            var changed = original
            let port = UInt16.random(in: 20_000..<30_000)
            let manager = try ServiceManager(path: original.directory.path(of: "notify"))
            changed.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:\(port)"
            changed.environment["SHAREDCORE_ZMQ_HUB"] = "none"
            changed.environment["NOTIFY_SOCKET"] = manager.address
            let program = changed
            try await program.running("hub") { hub in
                try await manager.until { $0.contains { $0.hasPrefix("READY=1\nSTATUS=the hub of the group") } }
                #expect(try await program.run("store", "put", "key", "value").status == 0)
                try hub.send(.kill)
            }
            // As Restart=on-failure does.
            let again = try await program.running("hub") { hub in
                try await manager.until { $0.filter { $0.hasPrefix("READY=1") }.count == 2 }
                #expect(try await program.run("store", "get", "key").output == "value")
                #expect(!manager.messages.contains { $0.hasPrefix("STOPPING=1") })
                try hub.send(.terminate)
            }
            #expect(again.status == 0)
            try await manager.until { $0.contains { $0.hasPrefix("STOPPING=1") } }
        }
    }

    @Test("Why a hub cannot start is what its clients are told, with the status that it has for the hub itself")
    func failing() async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "ipc://" + program.directory.path(of: "place/hub")
            try program.makeDirectory("state/sharedcore/default")
            chmod(program.directory.path(of: "state/sharedcore/default"), 0o755)
            for arguments in [["store", "put", "k", "v"], ["hub"], ["hub", "--detach"]] {
                let ended = try await program.run(arguments)
                #expect(ended.status == 78, "\(arguments): \(ended.errors)")
                #expect(ended.errors.contains("The directory is open to others: its mode is 755"))
                #expect(ended.errors.contains(program.directory.path(of: "state/sharedcore/default")))
                #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
            }
        }
    }

    @Test(
        "A disk without space for what tells of a hub keeps it from starting, with status 69",
        .enabled(if: getuid() == 0, "needs root to mount a disk"))
    func fullDisk() async throws {
        try await HostProgram.using("zmq") { program in
            let ended = try await program.shell(
                """
                mkdir disk && unshare --mount sh -c '
                    mount -t tmpfs -o size=64k,mode=700 tmpfs disk && head -c 65536 /dev/zero > disk/zeros
                    export XDG_RUNTIME_DIR="$PWD/disk"
                    sharedcore store put k v || echo $?
                    sharedcore hub --stop || echo $?'
                """)
            #expect(ended.output == "69\n1\n", "\(ended.output)\n\(ended.errors)")
            #expect(ended.errors.contains("There is no space left"), "\(ended.errors)")
        }
    }

    @Test("No hub is started if the settings forbid it: status 69")
    func unwanted() async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            program.environment["SHAREDCORE_ZMQ_HUB"] = "none"
            let ended = try await program.run("store", "get", "k")
            #expect(ended.status == 69 && ended.errors.contains("No hub answers at ipc://\(program.socket)"))
            #expect(try await program.run("hub", "--stop").status == 1)
        }
    }

    @Test("The group of a hub on memory ends with the hub")
    func memory() async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            program.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
            #expect(try await program.run("store", "put", "k", "v").status == 0)
            #expect(try await program.run("store", "get", "k").output == "v")
            // The witness of the cores is in the group's directory all the same.
            let main = try await program.running("main") { main in
                try await main.untilOutput(has: 1)
                try main.send(.terminate)
            }
            #expect(main.status == 0, "\(main.errors)")
            #expect(try await program.run("hub", "--stop").status == 0)
            let gone = try await program.run("store", "get", "k")
            #expect(gone.status == 1 && gone.errors.contains("there is no such group"), "\(gone.errors)")
            #expect(try await program.run("store", "put", "k", "v").status == 0)
            // A user that relies on files does not get less.
            program.environment["SHAREDCORE_ZMQ_STORAGE"] = nil
            let refused = try await program.run("store", "get", "k")
            #expect(refused.status == 78 && refused.errors.contains("durability process"), "\(refused.errors)")
        }
    }
}
