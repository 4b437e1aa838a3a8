internal import Glibc
internal import TestSupport
internal import Testing

/// An Executor in a namespace of process numbers of its own, as in a container.
@Suite("An owner in another namespace of process numbers", .timeLimit(.minutes(10)))
struct ForeignNamespaceTests {
    private static let unshare =
        "unshare \(geteuid() == 0 ? "" : "--user --map-root-user") --pid --fork --kill-child --mount-proc"

    /// An Executor's program stops itself; a Main comes. Its process number belongs to another process outside.
    private static let script = """
        \(unshare) sh -c '
            sharedcore exclusive --role executor -- sh -c "echo runs; kill -STOP \\$PPID; sleep 600"; true
        ' > executor.out & space=$!
        for round in $(seq 1200); do grep -q runs executor.out && break; sleep 0.05; done
        sharedcore exclusive --role main -- echo main runs
        echo status $?
        kill -KILL $space
        wait $space 2> /dev/null
        sharedcore timeline
        """

    /// The `sharedcore` of a command is killed within a namespace below this one. In this namespace the command has
    /// another process number.
    private static let outliving = """
        \(unshare) sh -c '
            sharedcore exclusive --role executor -- setpriv --pdeathsig clear sh -c "echo runs; exec sleep 600" & own=$!
            until grep -q runs executor.out; do sleep 0.05; done
            kill -KILL $own
            wait $own
            echo killed
            sleep 600
        ' > executor.out 2> /dev/null & space=$!
        until grep -q killed executor.out; do sleep 0.05; done
        pgrep --parent $(pgrep --parent $space) --full "sleep 600" > /dev/null && echo it has outlived its sharedcore
        before=$(pgrep --count --ns $(pgrep --parent $space) --nslist pid --full "^sleep 600")
        sharedcore exclusive --role main -- sh -c "echo main runs"
        echo status $?
        after=$(pgrep --count --ns $(pgrep --parent $space) --nslist pid --full "^sleep 600")
        echo $before then $after
        kill -KILL $space
        wait $space 2> /dev/null
        """

    @Test("A command in a namespace below that has outlived its sharedcore is gone before the next one begins")
    func outlivingBelow() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "made", "1").status == 0)
        let ended = try await program.shell(Self.outliving)
        #expect(
            ended.output == "it has outlived its sharedcore\nmain runs\nstatus 0\n2 then 1\n",
            "\(ended.output) \(ended.errors)")
    }

    @Test(
        "C3: it is fenced and never killed, because its number means another process here", arguments: ["file", "zmq"])
    func fenced(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            // A hub of the group is there, and outside of the namespace.
            #expect(try await program.run("store", "put", "made", "1").status == 0)
            let ended = try await program.shell(Self.script)
            #expect(ended.output.contains("main runs\nstatus 0\n"), "\(ended.output) \(ended.errors)")
            #expect(ended.output.contains("process number is of another namespace"), "\(ended.output)")
            #expect(!ended.output.contains("killed the process"), "\(ended.output)")
        }
    }
}
