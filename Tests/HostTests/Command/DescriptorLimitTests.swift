internal import TestSupport
internal import Testing

/// The programs under limits of open files. Swift's runtime ends a process with SIGILL where it cannot open a file that
/// it needs.
@Suite("Few descriptors", .timeLimit(.minutes(10)))
struct DescriptorLimitTests {
    /// Every program under each limit: its status is never that of a signal, and a failure names the missing resource.
    private static let script = """
        try() {
            (ulimit -n $1 && shift && exec timeout -s TERM 5 "$@") > out.$1.$2 2>&1
            echo "$1 $2 $? $(grep -c 'Raise its limit' out.$1.$2)"
        }
        for limit in 4 5 6 8 10 12 14 16 18 20 24 28 32 40 48 50 51 52 56 64; do
            try $limit sharedcore store put key value
            try $limit sharedcore-executor --directory "$PWD/group" --call-id none --timeout-ms 50 --maildir "$PWD/mail"
            try $limit sharedcore-keeper --directory "$PWD/keeper.$limit" -- true
        done
        for limit in 18 51 52 64; do try $limit sharedcore executor --call-id none --timeout 100ms; done
        for limit in 18 52; do try $limit sharedcore exclusive --role main -- sleep 0.1; done
        """

    @Test("E2: no limit ends a program by a signal; one that is too low is named, with the number that is needed")
    func limits() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(Self.script)
        let lines = ended.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 66, "\(ended.errors)")
        for line in lines {
            let words = try #require(line.count == 4 ? line : nil, "\(line)")
            let (limit, status) = (try #require(Int(words[0])), try #require(Int(words[2])))
            // 124 is the end of a keeper that runs, and 1 a deadline that has passed.
            #expect(status < 128, "\(words)")
            // Below some limit not even the libraries are found. Then the loader prints the message.
            if limit < 51, status != 127 { #expect(words[3] == "1", "\(words)") }
            // The process that starts the test may have left some descriptors open.
            if limit >= 64 { #expect(words[3] == "0", "\(words)") }
        }
    }
}
