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
