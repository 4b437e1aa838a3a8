internal import Foundation
internal import TestSupport
internal import Testing

@Suite("soak at a terminal")
struct SoakCommandTests {
    @Test("The message of an interruption replaces the line that shows the progress")
    func interrupted() async throws {
        // Two signals, so that the running round is abandoned. A third one would end the program at once.
        let ended = try await HostProgram().shell(
            """
            script -qec 'echo $$ > pid; exec sharedcore --backend memory soak --minutes 60' /dev/null > shown &
            until grep -q 'pushes for' shown; do kill -0 $! || exit 1; sleep 0.02; done
            kill -TERM $(cat pid); sleep 0.2; kill -TERM $(cat pid) 2>/dev/null
            wait $!; echo "status $?"; cat shown
            """)
        #expect(ended.output.hasPrefix("status 143\n"), "\(ended.output) \(ended.errors)")
        let rest = try #require(ended.output.components(separatedBy: "sharedcore: interrupted").first)
        #expect(ended.output.contains("sharedcore: interrupted"))
        // After the summary, if the round ended before the second signal; a terminal ends its lines like this.
        #expect(rest.hasSuffix("\r\u{1b}[K") || rest.hasSuffix("\r\n"), "\(ended.output)")
    }
}
