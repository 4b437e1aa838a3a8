internal import Glibc
internal import TestSupport
internal import Testing

/// The programs under limits of threads and of address space. Swift's runtime waits for ever where it gets no thread.
@Suite("Few threads", .timeLimit(.minutes(10)))
struct ThreadLimitTests {
    /// Every program under each limit: it ends within its time, and a failure names the missing resource. The limits of
    /// threads are those of a user with no other process; root has none.
    private static let script = """
        as_other() { setpriv --reuid $other --regid $other --clear-groups "$@"; }
        try() {
            limit=$1; shift
            (ulimit $limit && exec timeout -s KILL 60 "$@") > "$out/text" 2>&1
            echo "$limit|$?|$(grep -c "$missing" "$out/text")"
        }
        export -f try
        threads() {
            for count in 3 4 5 6 8 10 400; do
                try "-u $count" sharedcore store put key value
                try "-u $count" sharedcore exclusive --role executor -- true
                try "-u $count" sharedcore-executor --directory "$out/group" --call-id none --timeout-ms 50 --maildir "$out/mail"
            done
        }
        export -f threads
        """

    /// A limit, the status of a program under it, and whether it said that it is too low.
    private func lines(_ output: String) throws -> [(limit: String, status: Int32, isNamed: Bool)] {
        try output.split(separator: "\n").map { line in
            let words = line.split(separator: "|").map(String.init)
            try #require(words.count == 3, "\(line)")
            return (words[0], try #require(Int32(words[1])), words[2] != "0")
        }
    }

    @Test(
        "E2: no limit of threads has a program stand still; one that is too low is named",
        .enabled(if: getuid() == 0, "needs root to act as a user without other processes"))
    func threads() async throws {
        let program = try HostProgram()
        chmod(program.directory.path, 0o755)
        try program.makeDirectory("other")
        chmod(program.directory.path(of: "other"), 0o777)
        let ended = try await program.shell(
            """
            \(Self.script)
            export other=47113 out="$PWD/other" missing='ulimit -u' XDG_STATE_HOME="$PWD/other/state" HOME="$PWD/other"
            as_other bash -c threads
            """)
        let lines = try lines(ended.output)
        #expect(lines.count == 21, "\(ended.output) \(ended.errors)")
        for (index, line) in lines.enumerated() {
            // An Executor without its message ends with status 1. The number of threads that is enough depends on the
            // processors.
            let (good, refusal): (Int32, Int32) = [(0, 69), (0, 125), (1, 69)][index % 3]
            #expect(line.status == (line.isNamed ? refusal : good), "\(line)")
            if ["-u 3", "-u 4", "-u 5"].contains(line.limit) { #expect(line.isNamed, "\(line)") }
            if line.limit == "-u 400" { #expect(!line.isNamed, "\(line)") }
        }
    }

    @Test("E2: no limit of address space has a program stand still; one that is too low is named")
    func addressSpace() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            """
            \(Self.script)
            export out="$PWD" missing='ulimit -v'
            for size in 102400 110000 125000 140000 150000 170000 190000 210000 230000 260000 4000000; do
                try "-v $size" sharedcore store put key value
                try "-v $size" sharedcore exclusive --role main -- true
            done
            """)
        let lines = try lines(ended.output)
        #expect(lines.count == 22, "\(ended.output) \(ended.errors)")
        for line in lines {
            // Below some limit not even the libraries are found. Then the loader prints the message.
            #expect([0, 69, 125, 127].contains(line.status), "\(line)")
            #expect(line.isNamed == (line.status == 69 || line.status == 125), "\(line)")
        }
        #expect(lines.contains { $0.isNamed } && lines.suffix(2).allSatisfy { $0.status == 0 }, "\(lines)")
    }
}
