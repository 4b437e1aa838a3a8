internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("The host serves pushes (contract P10, P11)")
struct ServeCommandTests {
    @Test("A push starts an Executor, which gets its message; the push is dealt with then", arguments: ["file", "zmq"])
    func push(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            try program.deliver("1@x")
            let ended = try await ServingHost.serve(program) { host in
                let pushed = try await host.program.run("push", "1@x", "--json")
                #expect(pushed.status == 0, "\(pushed.errors)")
                let end = try await host.until("ended", of: "1@x")
                #expect(end["status"] == .number(0), "\(host.running.errors.lines)")
                #expect(try host.printed(end).contains("\"text\":\"Hello\""))
                try await host.until("served", of: "1@x")
                try await host.program.untilNoPushWaits()
            }
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    @Test("Pushes of a time without a host wait for one")
    func waiting() async throws {
        let program = try HostProgram()
        for callID in ["1@x", "2@x"] {
            #expect(try await program.run("push", callID).status == 0)
            try program.deliver(callID)
        }
        #expect(try await program.pushes()["waiting"] == .number(2))
        try await ServingHost.serve(program) { try await $0.untilServed(2) }
        #expect(
            try await program.pushes() == [
                "waiting": .number(0), "taken": .number(0), "givenUp": .number(0), "forMain": .number(0),
                "paused": .flag(false),
            ])
    }

    @Test("A host whose group's directory was removed ends with 69 and says why; the next one makes the group anew")
    func removed() async throws {
        let program = try HostProgram()
        let lost = try await program.running("serve", "--json") { running in
            try await ServingHost(program: program, running: running).until("it serves") {
                $0["event"] == .text("serving")
            }
            let directory = program.directory.path(of: "state/sharedcore/default")
            // Again where the host has made or removed a file meanwhile.
            #expect(try await program.shell("until rm -rf '\(directory)'; do :; done").status == 0)
        }
        #expect(lost.status == 69, "\(lost.errors)")
        let lines = lost.errors.split(separator: "\n")
        #expect(lines.last?.contains("files were removed or replaced") == true, "\(lost.errors)")
        #expect(lines.filter { $0.contains("pushes cannot be taken") }.count <= 1, "\(lost.errors)")
        let next = try await ServingHost.serve(program) { host in
            #expect(try await host.program.run("push", "1@x").status == 0)
            try program.deliver("1@x")
            try await host.until("taken", of: "1@x")
        }
        #expect(next.status == 0, "\(next.errors)")
    }

    @Test("A program for Executors that is not there is told of at the start, before a push is spent on it")
    func absentProgram() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/no/such/program {id}"
        try await ServingHost.serve(program) { host in
            try await host.running.untilErrors(contain: "“/no/such/program” was not found: no push can be served")
        }
    }

    @Test("No more Executors than the limit run at once; the pushes beyond it wait and are served")
    func limit() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_LIMIT"] = "2"
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] =
            "/bin/sh -c 'while [ ! -e \(program.directory.path(of: "go")) ]; do sleep 0.05; done'"
        for number in 1...5 { #expect(try await program.run("push", "\(number)@x").status == 0) }
        try await ServingHost.serve(program) { host in
            // One more than the limit may be in the host's hand, but not with an Executor.
            try await eventually("all that may be taken are", timeout: TestTimeout.long) {
                try await host.program.pushes()["taken"] == .number(3)
            }
            try await eventually("two have started", timeout: TestTimeout.long) {
                try host.events("started").count == 2
            }
            try host.program.write("", to: "go")
            try await host.untilServed(5)
        }
    }

    @Test("A command that is configured gets the call-id as an argument and in its environment, and the configuration")
    func command() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] =
            "/bin/sh -c 'echo \"$1 $SHAREDCORE_CALL_ID $SHAREDCORE_BACKEND $SHAREDCORE_GROUP $SHAREDCORE_STATE_DIRECTORY\"' sh 'id={id}'"
        let place = program.directory.path(of: "state/sharedcore")
        try await ServingHost.serve(program, "--group", "g", "--backend", "file") { host in
            _ = try await host.program.run("push", "a b;$(x)", "--group", "g")
            let end = try await host.until("ended", of: "a b;$(x)")
            #expect(end["printed"] == .text("id=a b;$(x) a b;$(x) file g \(place)"))
            #expect(end["status"] == .number(0))
        }
    }

    @Test(
        "P9: what an Executor brings is told while it runs, and also where it is killed then", arguments: [true, false])
    func alert(isOwn: Bool) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_ALERTS"] = "log"
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "1"
        if !isOwn {
            try program.write(
                #"echo '{"event":"message","text":"Hello"}'; exec sleep 3600"#, to: "executor.sh")
            program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh \(program.directory.path(of: "executor.sh"))"
        }
        try await ServingHost.serve(program) { host in
            // The core continues for the other push.
            for callID in isOwn ? ["2@x", "1@x"] : ["1@x"] { _ = try await host.program.run("push", callID) }
            let start = try await host.until("started", of: "1@x")
            if isOwn {
                try await eventually("both take part", timeout: TestTimeout.long) {
                    let status = try await host.program.run("status", "--json").output
                    return status.contains("push 1@x") && status.contains("push 2@x")
                }
                try host.program.deliver("1@x")
            }
            try await host.running.untilErrors(contain: "Hello")
            guard case .number(let pid) = start["pid"], let process = ProcessIdentity(of: Int32(pid)) else { return }
            _ = try? ProcessHandle(process).signal(.kill)
            try await host.until("ended", of: "1@x")
            #expect(host.running.errors.lines.count { $0.contains("Hello") } == 1)
        }
    }

    @Test("A hub that goes away is named in the log, and that it is back; a host that ends meanwhile says nothing more")
    func hubAway() async throws {
        try await HostProgram.using("zmq") { program in
            #expect(try await program.run("store", "put", "k", "v").status == 0)
            var serving = program
            serving.environment["SHAREDCORE_ZMQ_HUB"] = "none"
            serving.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "mail")
            serving.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
            let ended = try await ServingHost.serve(serving) { [program] host in
                #expect(try await program.run("hub", "--stop").status == 0)
                try await host.running.untilErrors(contain: "the group cannot be used now")
                #expect(try await program.run("hub", "--detach").status == 0)
                try await host.running.untilErrors(contain: "the group can be used again")
                #expect(try await program.run("push", "1@x").status == 0)
                try await host.until("started", of: "1@x")
                #expect(try await program.run("hub", "--stop").status == 0)
                try await eventually("that is said again", timeout: TestTimeout.long) {
                    host.running.errors.lines.count { $0.contains("the group cannot be used now") } == 2
                }
            }
            #expect(!ended.errors.contains("was cancelled"), "\(ended.errors)")
        }
    }

    @Test("A second host of the group is refused, and told which process runs it")
    func second() async throws {
        let program = try HostProgram()
        try await ServingHost.serve(program) { host in
            let second = try await host.program.run("serve")
            #expect(second.status == 69)
            #expect(second.errors.contains("pid \(host.running.pid)"), "\(second.errors)")
            let other = try await ServingHost.serve(host.program, "--group", "other") { _ in }
            #expect(other.status == 0)
        }
        // The first host has left nothing behind.
        try await ServingHost.serve(program) { _ in }
    }

    @Test("status shows the host, its Executors and budgets; without a host it says so")
    func status() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "sleep 1000"
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            let start = try await host.until("started", of: "1@x")
            try await eventually("the Executor in status", timeout: TestTimeout.long) {
                let status = try await host.program.run("status", "--json")
                guard case .object(let shown) = try status.objects().first?["host"] else { return false }
                #expect(shown["pid"] == .number(UInt64(host.running.pid)))
                #expect(shown["budgetMs"] == .number(3_600_000) && shown["warningMs"] == .number(3_000_000))
                #expect(shown["memoryBytes"] == .number(24 << 20))
                guard case .array(let executors) = shown["executors"], let first = executors.first,
                    case .object(let executor) = first
                else { return false }
                return executor["callID"] == .text("1@x") && executor["pid"] == start["pid"]
            }
            let text = try await host.program.run("status")
            #expect(
                text.output.contains("host      pid \(host.running.pid)") && text.output.contains("killed after 1h"))
        }
        let after = try await program.run("status", "--json")
        #expect(try after.objects().first?["host"] == .null)
        // The Executor was ended with the host, and its push was not acknowledged.
        #expect(try await program.pushes()["waiting"] == .number(1))
    }

    @Test("An Executor has 30 s and is warned after 25 s where nothing else is said, as status shows")
    func usualBudget() async throws {
        let program = try HostProgram()
        try await program.running(["serve", "--json"]) { running in
            try await eventually("it serves", timeout: TestTimeout.long) {
                try running.objects().contains { $0["event"] == .text("serving") }
            }
            let status = try await program.run("status", "--json")
            guard case .object(let shown) = try status.objects().first?["host"] else {
                Issue.record("no host is shown: \(status)")
                return try running.send(.terminate)
            }
            #expect(shown["budgetMs"] == .number(30_000) && shown["warningMs"] == .number(25_000), "\(shown)")
            try running.send(.terminate)
        }
    }

    @Test(
        "Wrong settings of the host are refused before anything begins",
        arguments: [
            ("EXECUTOR_LIMIT", "0"), ("EXECUTOR_MEMORY", "much"), ("EXECUTOR_COMMAND", "'open"),
            ("EXECUTOR_WARNING", "40s"), ("EXECUTOR_COMMAND", "/x/{id}"), ("EXECUTOR_COMMAND", "sh -c 'run {id}'"),
            ("EXECUTOR_ATTEMPTS", "-1"), ("METRICS_LISTEN", "99999"), ("PUSH_ROUTES", "call=Main"),
            ("PUSH_ROUTES", "call"), ("PUSH_ROUTES", "Call=main"), ("PUSH_ROUTES", "call=main call=executor"),
        ])
    func wrong(name: String, value: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_" + name] = value
        let ended = try await program.run("serve")
        #expect(ended.status == 78, "\(ended.errors)")
        #expect(ended.errors.contains("SHAREDCORE_" + name) && (ended.errors.contains(value) || value.contains("{id}")))
    }

    @Test(
        "E2: a socket of the host is made behind no link of another user",
        .enabled(if: getuid() == 0, "it takes root to give a link away"), arguments: ["PUSH_SOCKET", "METRICS_LISTEN"])
    func foreignLink(name: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_" + name] = program.directory.path(of: "link/place/socket")
        let ended = try await program.shell(
            "mkdir -p real/place; ln -s real link; chown -h 65534 link; timeout 60 sharedcore serve")
        #expect(ended.status == 78, "\(ended.errors)")
        #expect(ended.errors.contains("SHAREDCORE_" + name) && ended.errors.contains("belongs to user 65534"))
        #expect(try Directory(path: program.directory.path(of: "real/place")).names().isEmpty)
    }

    @Test(
        "A call-id that cannot travel is wrong usage",
        arguments: ["", " x", "a\nb", String(repeating: "x", count: 999)])
    func callID(text: String) async throws {
        let program = try HostProgram()
        #expect(try await program.run("push", text).status == 64)
        #expect(try await program.run("push").status == 64)
        #expect(try await program.run("push", "--retry", "x").status == 64)
    }

    @Test("The host raises its limit of open files to the maximum, since each Executor takes a few")
    func openFiles() async throws {
        let program = try HostProgram()
        let environment = [
            "HOME": program.directory.path, "XDG_STATE_HOME": program.directory.path(of: "state"),
            "XDG_CONFIG_HOME": program.directory.path(of: "config"), "XDG_RUNTIME_DIR": program.directory.path,
        ]
        let host = try ChildProcess(
            "/bin/sh", ["-c", "ulimit -Sn 100; exec \"$0\" serve", try program.path], environment: environment,
            errors: program.directory.path(of: "errors"))
        try await eventually("it serves", timeout: TestTimeout.long) { host.lines.contains { $0.contains("serves") } }
        let limits = String(
            decoding: try OpenFile(path: "/proc/\(host.pid)/limits", .read).read(count: 8 << 10, at: 0), as: UTF8.self)
        let words = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }?.split(separator: " ")
        let (soft, hard) = (words?.dropFirst(3).first, words?.dropFirst(4).first)
        #expect(soft == hard && soft != "100" && soft != nil)
        host.signal(.terminate)
        #expect(await host.end() == .exited(0))
    }
}
