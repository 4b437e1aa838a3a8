internal import Glibc
internal import TestSupport
internal import Testing

/// Processes with a clock that is ahead, as in a container that was moved here from another machine.
@Suite("Time namespaces", .timeLimit(.minutes(10)))
struct TimeNamespaceTests {
    private static let inside =
        "unshare \(geteuid() == 0 ? "" : "--user --map-root-user") --time --fork --boottime 1000000 --monotonic 1000"

    /// A Main runs on one side of the namespace, and the other commands on the other.
    private static func script(main: String, others: String) -> String {
        """
        \(main) sharedcore main --json > main.out 2> main.err & main=$!
        for round in $(seq 1200); do grep -q owning main.out && break; sleep 0.05; done
        \(others) sharedcore store put key value --ttl 1h > /dev/null || exit 7
        \(others) sharedcore status --json > others.out
        \(main) sharedcore store get key
        \(others) sharedcore store get key
        \(main) sharedcore status --json > main.status.out
        kill -TERM $(sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' main.out)
        wait $main
        echo main $?
        """
    }

    @Test(
        "L1, S8: a Main lives on for processes with another clock, and nothing expires early",
        arguments: [("", inside), (inside, "")])
    func agree(main: String, others: String) async throws {
        let program = try HostProgram()
        let ended = try await program.shell(Self.script(main: main, others: others))
        #expect(ended.output == "valuevaluemain 0\n", "\(ended.output) \(ended.errors)")
        let epoch = try program.objects(in: "main.out").first?["epoch"]
        for name in ["others.out", "main.status.out"] {
            let status = try #require(try program.objects(in: name).first)
            guard case .object(let owner) = status["owner"] else {
                Issue.record("\(name): nobody owns: \(status)")
                continue
            }
            #expect(owner["epoch"] == epoch, "\(name)")
        }
    }
}
