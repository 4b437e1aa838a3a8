internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

/// Commands of `exclusive`, each with a process of its own, on both backends that processes share.
@Suite("Any command as the core", .serialized)
struct ExclusiveCommandTests {
    @Test("The standard streams, the directory and the environment are the command's own")
    func streams() async throws {
        let program = try HostProgram()
        let ended = try await program.run(
            ["exclusive", "--role", "main", "--", "sh", "-c", "cat; pwd; echo problem >&2; echo $SHAREDCORE_TEST"],
            input: "from outside\n")
        #expect(ended.output == "from outside\n\(program.directory.path)\n\n")
        #expect(ended.errors == "problem\n")
    }

    @Test("A closed pipe ends the command as any other")
    func closedPipe() async throws {
        let ended = try await HostProgram().shell(
            "env --default-signal=PIPE sharedcore exclusive --role main -- yes | head -n 1; echo ${PIPESTATUS[0]}")
        #expect(ended.output == "y\n141\n")
    }

    @Test("Of several at once, no two commands ever overlap (contract C1)", arguments: HostProgram.backends)
    func exclusion(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            let script = "mkdir held || echo overlap; sleep 0.05; rmdir held; echo done"
            try await withThrowingTaskGroup(of: HostProgram.Ended.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try await program.run("exclusive", "--role", "executor", "--", "sh", "-c", script)
                    }
                }
                for try await ended in group {
                    #expect(ended.status == 0 && ended.output == "done\n", "\(ended.output) \(ended.errors)")
                }
            }
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("Main asks an Executor's command to end, and owns when it has (contract C3)", arguments: HostProgram.backends)
    func handover(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            // A slow machine needs time for the command to end by itself.
            try program.write("handover:\n  timeout: 60s\n  maximumTimeout: 60s\n", to: "sharedcore.yaml")
            // The command takes time to end: a reason for waiting is printed when it has stood for a second.
            let script = "trap 'echo asked; sleep 3; kill $!; exit 3' TERM; echo runs; sleep 600 & wait"
            let ended = try await program.running("exclusive", "--role", "executor", "--", "sh", "-c", script) {
                try await $0.untilOutput(has: 1)
                let main = try await program.run(
                    "exclusive", "--role", "main", "--name", "the main", "--", "echo", "main runs")
                #expect(main.status == 0 && main.output == "main runs\n")
                #expect(main.errors.contains("waiting for executor “sh” pid \($0.pid) (epoch "))
                #expect(main.errors.contains(", stopping) to hand over, "))
            }
            #expect(ended.status == 3)
            #expect(ended.output == "runs\nasked")
            let line =
                #/the command is told to end, because main “the main” \(pid [0-9]+, session [0-9]+\) takes the core;/#
            #expect(ended.errors.contains(line), "\(ended.errors)")
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("A Main waits for an Executor's activity and says so; one that insists interrupts it (contracts C17, C18)")
    func insists() async throws {
        let program = try HostProgram()
        // A slow machine needs time for the core to end by itself.
        try program.write("handover:\n  timeout: 60s\n  maximumTimeout: 60s\n", to: "sharedcore.yaml")
        _ = try await program.run("store", "put", "group", "is there")
        let peer = HostProgram(named: "sharedcore-test-peer", in: program.directory)
        let owner = try await peer.running(
            "busy", program.directory.path(of: "state/sharedcore/default"), "1", "call"
        ) { owner in
            try await owner.untilOutput(has: 1)
            let patient = try await program.running("exclusive", "--role", "main", "--", "echo", "never") { main in
                try await main.untilErrors(contain: "busy with call “1”")
                let status = try await program.run("status", "--json").objects().first
                guard case .object(let asked) = status?["asked"] else {
                    Issue.record("no Main has asked: \(status ?? [:])")
                    return
                }
                #expect(asked["pid"] == .number(UInt64(main.pid)) && asked["insists"] == .flag(false))
                try main.send(.interrupt)
            }
            #expect(patient.status == 125 && patient.output.isEmpty)
            let main = try await program.run("exclusive", "--role", "main", "--insist", "--", "echo", "main runs")
            #expect(main.status == 0 && main.output == "main runs\n", "\(main.errors)")
        }
        #expect(owner.status == 0 && owner.output == "busy\nstopped insisted")
        #expect(try await program.run("check").status == 0)
    }

    @Test(
        "A command that ignores SIGTERM is killed at its deadline, and Main owns (contract C3)",
        arguments: HostProgram.backends)
    func deadline(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            // A slow machine needs time for the release: the command is killed a second earlier, which is all there is.
            try program.write("handover:\n  timeout: 5s\n  maximumTimeout: 8s\n", to: "sharedcore.yaml")
            let script = "trap '' TERM; echo runs; while :; do sleep 0.05; done"
            let ended = try await program.running("exclusive", "--role", "executor", "--", "sh", "-c", script) {
                try await $0.untilOutput(has: 1)
                #expect(try await program.run("exclusive", "--role", "main", "--", "true").status == 0)
            }
            #expect(ended.status == 137)
            // The command was killed, not the process that runs it.
            let events = try await program.run("timeline", "--json").objects().map { $0["event"] }
            #expect(!events.contains(.text("killed")) && events.contains(.text("released")), "\(events)")
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("Full standard error holds up no hand-over: the command is killed at its deadline (contract C3)")
    func fullStandardError() async throws {
        let program = try HostProgram()
        try program.write("handover:\n  timeout: 5s\n  maximumTimeout: 8s\n", to: "sharedcore.yaml")
        let script = """
            exec 3<>full
            dd if=/dev/zero of=full bs=4096 count=1024 oflag=nonblock 2> /dev/null
            sharedcore exclusive --role executor -- \
                sh -c 'trap "" TERM; touch runs; while :; do sleep 0.05; done' 2>&3 &
            executor=$!
            until [ -e runs ]; do sleep 0.05; done
            sharedcore exclusive --role main -- echo main runs
            cat <&3 > read & reader=$!
            wait $executor
            echo $?
            for turn in {1..600}; do grep -aq 'told to end' read && break; sleep 0.05; done
            kill $reader
            grep -ac 'told to end' read
            """
        let ended = try await program.shell(script, fifo: "full")
        #expect(ended.output == "main runs\n137\n1\n", "\(ended.errors)")
        // The command was killed, not the process that runs it.
        let events = try await program.run("timeline", "--json").objects().map { $0["event"] }
        #expect(!events.contains(.text("killed")) && events.contains(.text("released")), "\(events)")
    }

    @Test("A sharedcore that is killed leaves no command running (contract L3)", arguments: HostProgram.backends)
    func killed(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            let command = Box<ProcessIdentity?>(nil)
            let ended = try await program.running(
                "exclusive", "--role", "main", "--", "sh", "-c", "echo $$; exec sleep 600"
            ) { running in
                try await running.untilOutput(has: 1)
                let pid = try #require(running.output.lines.first.flatMap { Int32($0) })
                let identity = try #require(ProcessIdentity(of: pid))
                command.update { $0 = identity }
                try running.send(.kill)
            }
            #expect(ended.status == 137)
            let process = try #require(command.value)
            try await eventually("the end of the command", timeout: TestTimeout.long) { process.liveness == .dead }
            #expect(try await program.run("exclusive", "--role", "executor", "--", "true").status == 0)
            #expect(try await program.run("check").status == 0)
        }
    }

    /// Before the child of `sharedcore` has become its program, and before that program identifies its owner.
    private static let stops = ["start.beforeExec:fail", "gate.begin:stop"]

    @Test(
        "A command does not begin before it is noted, so that one that has undone its tie is known (contract C1)",
        arguments: HostProgram.backends)
    func notedFirst(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            var first = program
            first.environment["SHAREDCORE_FAIL_POINT"] = "exclusive.beforeNote:stop"
            let child = Box<ProcessIdentity?>(nil)
            _ = try await first.running(
                "exclusive", "--role", "main", "--", "setpriv", "--pdeathsig", "clear", "sh", "-c",
                "touch ran; exec sleep 600"
            ) { running in
                let owner = try #require(ProcessIdentity(of: running.pid))
                try await eventually("it stands in front of the note", timeout: TestTimeout.long) {
                    owner.isStopped == true
                }
                let found = try #require(ProcessIdentity.children(of: running.pid).first)
                child.update { $0 = found }
                try await eventually("it waits, or runs", timeout: TestTimeout.long) {
                    Self.isHeld(found.pid) || access(program.directory.path(of: "ran"), F_OK) == 0
                }
                try running.send(.kill)
            }
            let process = try #require(child.value)
            try await eventually("the child is gone", timeout: TestTimeout.long) { process.liveness == .dead }
            let next = try await program.run("exclusive", "--role", "executor", "--", "true")
            #expect(next.status == 0, "\(next.errors)")
            #expect(access(program.directory.path(of: "ran"), F_OK) != 0)
        }
    }

    /// Returns true if a process waits in the start gate, before it executes its command.
    private static func isHeld(_ pid: Int32) -> Bool {
        func content(_ name: String) -> [UInt8] {
            (try? OpenFile(path: "/proc/\(pid)/\(name)", .read).read(count: 4 << 10, at: 0)) ?? []
        }
        let words = content("cmdline").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard words.count > 4, words[1] == StartGate.name, let leave = Int32(words[4]) else { return false }
        #if arch(x86_64)
            let number = 0
        #else
            let number = 63
        #endif
        // The number of read(), and the descriptor.
        return content("syscall").starts(with: Array("\(number) 0x\(String(leave, radix: 16)) ".utf8))
    }

    @Test("If SIGCHLD is ignored at the start, the status is the command's, and the command ignores SIGCHLD as well")
    func ignoredChildSignal() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            """
            trap '' CHLD
            sharedcore exclusive --role main -- grep SigIgn /proc/self/status
            exec sharedcore exclusive --role main -- sh -c 'exit 7'
            """)
        #expect(ended.status == 7, "\(ended.errors)")
        let ignored = try #require(
            ended.output.split(separator: "\t").last.flatMap { UInt64($0.dropLast(), radix: 16) })
        #expect(ignored >> UInt64(SIGCHLD - 1) & 1 == 1)
    }

    @Test(
        "The command gets the hang-up of its terminal also if only sharedcore, which leads the session, gets it from the kernel"
    )
    func hangUp() async throws {
        let program = try HostProgram()
        try program.write(
            """
            trap 'touch heard; exit' HUP
            touch started
            for turn in $(seq 2000); do sleep 0.05; done
            """, to: "script.sh")
        let ended = try await program.shell(
            """
            mkfifo hold
            exec 3<>hold
            script -qec 'exec sharedcore exclusive --role main -- sh script.sh' /dev/null <hold >script.out 2>&1 &
            for turn in $(seq 1000); do [ -e started ] && break; sleep 0.05; done
            kill -9 $!
            for turn in $(seq 1000); do [ -e heard ] && exit 0; sleep 0.05; done
            cat script.out
            exit 1
            """)
        #expect(ended.status == 0, "\(ended.output) \(ended.errors)")
    }

    @Test("SIGQUIT ends a command at once, without a report of a crash")
    func quit() async throws {
        let program = try HostProgram()
        let ended = try await program.running("store", "watch", "--json", "--log-level", "info") {
            try await $0.untilErrors(contain: "watching")
            try $0.send(.quit)
        }
        #expect(ended.status == 131 && !ended.errors.contains("crashed"), "\(ended.status) \(ended.errors)")
    }

    @Test("SIGTERM ends sharedcore even if its child is stopped before it has become the command", arguments: stops)
    func terminatedEarly(place: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_FAIL_POINT"] = place
        let ended = try await program.running("exclusive", "--role", "main", "--", "sh", "-c", "touch ran") {
            _ = try await ProcessIdentity.stoppedChild(of: $0.pid)
            try $0.send(.terminate)
        }
        #expect(ended.status == 143, "\(ended.errors)")
        #expect(access(program.directory.path(of: "ran"), F_OK) != 0)
    }

    @Test("The budget's end ends sharedcore even if its child is stopped before it is the command", arguments: stops)
    func budgetOfEarlyStop(place: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_FAIL_POINT"] = place
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "10s"
        let ended = try await program.run("exclusive", "--role", "executor", "--", "sh", "-c", "touch ran")
        #expect(ended.status == 143, "\(ended.errors)")
        #expect(access(program.directory.path(of: "ran"), F_OK) != 0)
    }

    @Test(
        "A sharedcore that is killed leaves no child that is stopped before it is the command (contract L3)",
        arguments: stops)
    func killedEarly(place: String) async throws {
        let program = try HostProgram()
        var first = program
        first.environment["SHAREDCORE_FAIL_POINT"] = place
        let child = Box<ProcessIdentity?>(nil)
        _ = try await first.running("exclusive", "--role", "main", "--", "sh", "-c", "touch ran") {
            let found = try await ProcessIdentity.stoppedChild(of: $0.pid)
            child.update { $0 = found }
            // The next owner finds the process recorded as the former command, although the process has not said yet
            // which owner it belongs to.
            try await eventually("it is noted", timeout: TestTimeout.long) {
                try await program.run("store", "list", ".sharedcore/exclusive/").output.contains("exclusive")
            }
            try $0.send(.kill)
        }
        let next = try await program.run("exclusive", "--role", "executor", "--", "true")
        #expect(next.status == 0, "\(next.errors)")
        let process = try #require(child.value)
        try await eventually("the child is gone", timeout: TestTimeout.long) { process.liveness == .dead }
        #expect(access(program.directory.path(of: "ran"), F_OK) != 0)
    }

    @Test("A command that outlives its sharedcore is gone before the next one begins", arguments: HostProgram.backends)
    func outliving(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            let command = Box<Int32>(0)
            _ = try await program.running(
                "exclusive", "--role", "main", "--", "setpriv", "--pdeathsig", "clear", "sh", "-c",
                "echo $$; exec sleep 600"
            ) { running in
                try await running.untilOutput(has: 1)
                let pid = try #require(running.output.lines.first.flatMap { Int32($0) })
                command.update { $0 = pid }
                try running.send(.kill)
            }
            let former = try #require(ProcessIdentity(of: command.value))
            #expect(former.liveness == .alive, "the kernel was told not to end it")
            let look = "grep State /proc/\(former.pid)/status 2>&1 | grep -c -e zombie -e 'No such file'"
            let next = try await program.run("exclusive", "--role", "executor", "--", "sh", "-c", look)
            #expect(next.status == 0 && next.output == "1\n", "\(next.output) \(next.errors)")
        }
    }

    @Test("A command whose sharedcore is killed after another Main has taken over is gone before the third one begins")
    func outlivingTwo() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            """
            sharedcore exclusive --role main -- setpriv --pdeathsig clear sh -c 'echo $$ > first; exec sleep 600' & first=$!
            until [ -s first ]; do sleep 0.05; done
            kill -STOP $first
            sharedcore exclusive --role main --take-over -- sh -c 'kill -0 $(cat first) && echo beside the stopped one'
            kill -KILL $first
            wait $first 2> /dev/null
            kill -0 $(cat first) && echo it has outlived its sharedcore
            sharedcore exclusive --role main -- sh -c \
                'grep State /proc/$(cat first)/status 2>&1 | grep -q -e zombie -e "No such file" && echo alone'
            sharedcore store list .sharedcore/exclusive/ | grep -c exclusive
            """)
        #expect(
            ended.output == "beside the stopped one\nit has outlived its sharedcore\nalone\n1\n",
            "\(ended.output) \(ended.errors)")
    }

    @Test(
        "Behind a hub on memory that is gone, a command begins when the former one has ended (contract C1)",
        arguments: [
            "kill -KILL $hub", "kill -TERM $hub",
            // The second hub has no clients, and is told to end before the clients of the first hub have stopped.
            "kill -KILL $hub; sharedcore hub --detach; sharedcore hub --stop >&2",
        ])
    func hubOnMemory(end: String) async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            program.environment["SHAREDCORE_ZMQ_STORAGE"] = "memory"
            let ended = try await program.shell(
                """
                sharedcore exclusive --role main -- sh -c \
                    'trap "" TERM; exec 9>held; flock 9; touch runs; while :; do sleep 0.05 9>&-; done' & first=$!
                until [ -e runs ]; do sleep 0.05; done
                read -r hub _ <'\(program.socket).lock'
                \(end); while kill -0 $hub; do sleep 0.01; done 2>/dev/null
                sharedcore exclusive --role main -- sh -c 'exec 9>held; flock -n 9 && echo alone || echo overlap'
                wait $first
                """)
            #expect(ended.output == "alone\n", "\(ended.output) \(ended.errors)")
        }
    }

    @Test(
        "A former command that runs on behalf of another user is left to that user, and no other one begins",
        .enabled(if: getuid() == 0, "needs root to act as another user"))
    func outlivingAsAnotherUser() async throws {
        let program = try HostProgram()
        let command = Box<Int32>(0)
        // With the rights of this user still, as the file of a program can give them.
        _ = try await program.running(
            "exclusive", "--role", "main", "--", "setpriv", "--pdeathsig", "clear", "sh", "-c",
            "echo $$; exec setpriv --ruid 65534 sleep 600"
        ) { running in
            try await running.untilOutput(has: 1)
            let pid = try #require(running.output.lines.first.flatMap { Int32($0) })
            command.update { $0 = pid }
            try running.send(.kill)
        }
        let former = try ProcessHandle(try #require(ProcessIdentity(of: command.value)))
        defer { _ = try? former.signal(.kill) }
        try await eventually("it runs on behalf of another user") { former.user == 65_534 }
        let next = try await program.run("exclusive", "--role", "executor", "--", "true")
        #expect(next.status == 125, "\(next.errors)")
        #expect(
            next.errors.hasSuffix(
                "its core failed: the former command (pid \(command.value)) still runs as user 65534: end it first "
                    + "(code coreFailed)\n"),
            "\(next.errors)")
        #expect(!former.hasEnded)
    }

    @Test("A process that a record calls the former command is not killed unless it says so itself")
    func forgedRecord() async throws {
        let owner = try StartedProgram("/bin/sleep", ["1000"], streams: [])
        let other = try StartedProgram("/bin/sleep", ["1000"], streams: [])
        let dead = try #require(ProcessIdentity(of: owner.pid))
        let process = try #require(ProcessIdentity(of: other.pid))
        // The process has ended and nothing has waited for it: a sharedcore whose command may still run looks like
        // that.
        #expect(kill(owner.pid, SIGKILL) == 0)
        try await eventually("it has ended") { dead.isExiting }
        try await HostProgram.using("zmq") { program in
            #expect(try await program.run("store", "put", "key", "value").status == 0)
            let group = try await ZMQGroup.open(HubEndpoint("ipc://\(program.socket)"), group: "default")
            let record =
                "\(dead.bootID) \(ProcessIdentity.currentNamespace) \(dead.pid) \(dead.startTime) \(process.pid) "
                + "\(process.startTime)"
            _ = try await group.put(".sharedcore/exclusive/0", Array(record.utf8))
            let refused = try await program.run("exclusive", "--role", "executor", "--", "true")
            #expect(refused.status == 125, "\(refused.errors)")
            #expect(refused.errors.contains("cannot be identified: end it first"), "\(refused.errors)")
            #expect(process.liveness == .alive)
            #expect(kill(other.pid, SIGKILL) == 0)
            #expect(try await program.run("exclusive", "--role", "executor", "--", "true").status == 0)
            await group.close()
        }
        #expect(try other.waitForEnd() == 137 && owner.waitForEnd() == 137)
    }

    @Test(
        "The command begins with the signals ignored that sharedcore was started with, and with none blocked",
        arguments: ["", "env --ignore-signal=USR1 --ignore-signal=PIPE --ignore-signal=HUP --block-signal=USR2"])
    func dispositions(surroundings: String) async throws {
        let look = "grep -E '^Sig(Ign|Blk)' /proc/self/status"
        // Without the signals that glibc keeps for itself: the program that started this test may have ignored them.
        let plain = "env --default-signal " + surroundings
        let ended = try await HostProgram().shell(
            "\(plain) \(look); \(plain) sharedcore exclusive --role main -- \(look)")
        let lines = ended.output.split(separator: "\n")
        #expect(ended.status == 0 && lines.count == 4, "\(ended.output) \(ended.errors)")
        let masks = lines.filter { $0.hasPrefix("SigBlk") }.compactMap { UInt64($0.suffix(16), radix: 16) }
        #expect(masks.count == 2 && masks.last == 0, "\(lines)")
        let ignored = lines.filter { $0.hasPrefix("SigIgn") }
        #expect(ignored.count == 2 && ignored.first == ignored.last, "\(lines)")
    }

    /// Not a shell, which may unblock all signals.
    @Test("A SIGTERM that was blocked around sharedcore reaches the command all the same")
    func blocked() async throws {
        let ended = try await HostProgram().shell(
            """
            exec 3<>in
            env --default-signal --block-signal=TERM sharedcore exclusive --role main -- tee runs < in &
            until [ -e runs ]; do sleep 0.05; done
            kill -TERM $!
            wait $!
            echo $?
            """, fifo: "in")
        #expect(ended.output == "143\n", "\(ended.output) \(ended.errors)")
    }

    @Test("SIGINT and SIGTERM reach the command, which decides", arguments: [2, 15])
    func signals(number: Int32) async throws {
        let program = try HostProgram()
        let script = "trap 'echo heard; kill $!; exit 5' INT TERM; echo runs; sleep 600 & wait"
        let ended = try await program.running("exclusive", "--role", "main", "--", "sh", "-c", script) {
            try await $0.untilOutput(has: 1)
            try $0.send(Signal(rawValue: number))
        }
        #expect(ended.status == 5)
        #expect(ended.output == "runs\nheard")
    }

    @Test("Ctrl-C at a terminal reaches the command once, though the terminal tells both")
    func terminal() async throws {
        let program = try HostProgram()
        try program.write(
            """
            trap 'echo heard >> heard' INT
            touch started
            while [ ! -s heard ]; do sleep 0.05; done
            for turn in 1 2 3 4 5 6; do sleep 0.05; done
            touch ended
            exit 9
            """, to: "script.sh")
        let ended = try await program.shell(
            """
            { until [ -e started ]; do sleep 0.05; done; printf '\\003'; until [ -e ended ]; do sleep 0.05; done; } |
                script -qec 'exec sharedcore exclusive --role main -- sh script.sh' /dev/null
            exit ${PIPESTATUS[1]}
            """)
        #expect(ended.status == 9, "\(ended.output) \(ended.errors)")
        #expect(try await program.shell("cat heard").output == "heard\n")
    }

    @Test("A waiting exclusive that is interrupted ends with 125, says why it waited, and starts no command")
    func waiting() async throws {
        let program = try HostProgram()
        _ = try await program.running("exclusive", "--role", "executor", "--", "sh", "-c", "echo runs; exec sleep 600")
        {
            try await $0.untilOutput(has: 1)
            let owner = $0.pid
            let second = try await program.running("exclusive", "--role", "executor", "--", "echo", "never") {
                try await $0.untilErrors(contain: "waiting for executor “sh” pid \(owner) (epoch ")
                try $0.send(.terminate)
            }
            #expect(second.status == 125 && second.output.isEmpty)
            try $0.send(.terminate)
        }
    }

    @Test("While a Main owns, an Executor and another Main are refused, unless that one is to take over (C2, C14)")
    func refused() async throws {
        let program = try HostProgram()
        let first = try await program.running(
            "exclusive", "--role", "main", "--", "sh", "-c", "echo runs; exec sleep 600"
        ) {
            try await $0.untilOutput(has: 1)
            for role in ["main", "executor"] {
                let refused = try await program.run("exclusive", "--role", role, "--no-wait", "--", "echo", "never")
                #expect(refused.status == 125 && refused.output.isEmpty)
                #expect(refused.errors.contains("pid \($0.pid)") && refused.errors.contains("owns the core"))
                #expect(refused.errors.contains(role == "main" ? "--take-over" : "sharedcore status"))
            }
            #expect(try await program.run("exclusive", "--role", "main", "--take-over", "--", "true").status == 0)
        }
        #expect(first.status == 143)
        #expect(try await program.run("check").status == 0)
    }

    @Test(
        "A frozen sharedcore is taken over from; when it runs again it ends its command (contract C4, C6)",
        arguments: HostProgram.backends)
    func frozen(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            let first = try await program.running(
                "exclusive", "--role", "main", "--", "sh", "-c", "echo runs; exec sleep 600"
            ) {
                try await $0.untilOutput(has: 1)
                try $0.send(.suspend)
                #expect(try await program.run("exclusive", "--role", "executor", "--", "true").status == 0)
                try $0.send(.resume)
            }
            #expect(first.status == 143)
            let check = try #require(try await program.run("check", "--json").objects().last)
            #expect(check["ok"] == .flag(true) && check["overlaps"] == .number(0))
            // The frozen one's command ran on, which no process can prevent from outside; the witness has seen it.
            #expect(check["supersededOverlaps"] == .number(1))
        }
    }

    @Test(
        "A Main that freezes while another process waits behind it is taken over from within the bounds (contract C6)",
        arguments: HostProgram.backends, ["main", "executor"])
    func frozenBeforeAWaiter(backend: String, role: String) async throws {
        try await HostProgram.using(backend) { program in
            let first = try await program.running(
                "exclusive", "--role", "main", "--", "sh", "-c", "echo runs; exec sleep 600"
            ) { first in
                try await first.untilOutput(has: 1)
                let second = try await program.running(
                    "exclusive", "--role", role, "--", "sh", "-c", "echo runs; exec sleep 600"
                ) {
                    // The line is printed when the reason has stood for a second: the Main has answered by then.
                    try await $0.untilErrors(contain: "waiting for main “sh” pid \(first.pid)")
                    try first.send(.suspend)
                    // The challenge after an answer comes 2 s later, and an overloaded machine takes longer.
                    try await withTimeout(.seconds(15), "the one that waits takes over") { [running = $0] in
                        try await running.untilOutput(has: 1)
                    }
                    try $0.send(.terminate)
                }
                #expect(second.status == 143, "\(second.errors)")
                try first.send(.resume)
            }
            #expect(first.status == 143)
            let timeline = try await program.run("timeline").output
            #expect(!timeline.contains("was refused") && timeline.contains("took the core over"), "\(timeline)")
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("A command that was withdrawn before it began, because its owner was taken over from, is started later")
    func withdrawn() async throws {
        var first = try HostProgram()
        let program = first
        first.environment["SHAREDCORE_FAIL_POINT"] = "exclusive.beforeNote:stop"
        let ended = try await first.running("exclusive", "--role", "main", "--", "echo", "ran") { running in
            let owner = try #require(ProcessIdentity(of: running.pid))
            try await eventually("it stands in front of the note", timeout: TestTimeout.long) {
                owner.isStopped == true
            }
            #expect(try await program.run("exclusive", "--role", "executor", "--", "true").status == 0)
            try running.send(.resume)
        }
        #expect(ended.status == 0 && ended.output == "ran", "\(ended.status) \(ended.errors)")
        #expect(try await program.run("check").status == 0)
    }

    @Test("An Executor's command is asked to end when its budget is used up (contract P11)")
    func budget() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "10s"
        let ended = try await program.run("exclusive", "--role", "executor", "--", "sleep", "600")
        #expect(ended.status == 143)
        #expect(try await program.run("timeline").output.contains("its budget"))
    }

    @Test("The witness is held for as long as the command runs (contract C15)")
    func witness() async throws {
        let program = try HostProgram()
        let witness = FileWitness(path: program.directory.path(of: "state/sharedcore/default/witness"))
        let beyond = Revision(rawValue: 1 << 40)
        _ = try await program.running("exclusive", "--role", "main", "--", "sh", "-c", "echo runs; exec sleep 600") {
            try await $0.untilOutput(has: 1)
            let hold = try witness.begin(epoch: beyond)
            #expect(hold.others.count == 1)
            hold.end()
            try $0.send(.terminate)
        }
        #expect(try witness.begin(epoch: beyond).others.isEmpty)
    }
}
