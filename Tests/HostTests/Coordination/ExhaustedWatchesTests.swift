internal import FoundationEssentials
internal import TestSupport
internal import Testing

/// The programs where this user may watch no files: a user namespace has limits of its own.
@Suite("Without inotify", .timeLimit(.minutes(10)))
struct ExhaustedWatchesTests {
    /// Starts a Main, drops a message, has an Executor fetch it, and ends Main.
    private static func script(_ limit: String) -> String {
        """
        unshare --user --map-root-user bash -c '
            echo 0 > /proc/sys/user/\(limit) || exit 9
            sharedcore main --json > main.out 2> main.err & main=$!
            for round in $(seq 1200); do grep -q owning main.out && break; sleep 0.05; done
            sharedcore status --json > status.out
            maildir=state/sharedcore/default/Maildir
            mkdir -p $maildir/tmp && printf "Message-ID: <1@x>\\r\\n\\r\\nHello\\r\\n" > $maildir/tmp/1 || exit 8
            mv $maildir/tmp/1 $maildir/new/1
            sharedcore executor --call-id 1@x --timeout 60s --json > executor.out 2> executor.err
            echo executor $?
            kill -TERM $main
            wait $main
            echo main $?
            sharedcore timeline > timeline.out
            exit 0
        '
        """
    }

    @Test(
        "N4, C8: Main's core goes on, an Executor hears of its message, and status and log say how they wait",
        arguments: ["max_inotify_instances", "max_inotify_watches"])
    func goesOn(limit: String) async throws {
        let program = try HostProgram()
        let ended = try await program.shell(Self.script(limit))
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output == "executor 0\nmain 0\n")
        #expect(try program.objects(in: "executor.out").first?["source"] == .text("inbox"))
        let status = try #require(try program.objects(in: "status.out").first)
        #expect(status["wakeUp"] == .text("sharedMemory"))
        for log in ["main.err", "executor.err"] {
            #expect(try text(of: log, program).count(of: "waits at shared memory") == 1, "\(log)")
        }
        let timeline = try text(of: "timeline.out", program)
        #expect(timeline.count(of: "cannot be watched") == 1, "\(timeline)")
        #expect(timeline.contains("fs.inotify."), "\(timeline)")
        #expect(!timeline.contains("failed"), "\(timeline)")
    }

    @Test("where files can be watched, status says so and the log nothing")
    func watched() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "made", "1").status == 0)
        let status = try #require(try await program.run("status", "--json").objects().first)
        #expect(status["wakeUp"] == .text("fileEvents"))
    }

    private func text(of name: String, _ program: HostProgram) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: program.directory.path(of: name))), as: UTF8.self)
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func count(of text: String) -> Int {
        ranges(of: text).count
    }
}
