internal import CoreAPI
internal import Glibc

// The second process of a test. It takes a command from each line of its input and answers each with one line:
// "ok ..." or "error <code> ...". Its output is never buffered.
//
// What a command does is in `PeerSession`; where the process is stopped or killed in the middle of a write, the
// environment says (see `FailPoint`).

/// Writes one line at once.
func answer(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(1) }
}

let peer = PeerSession()
answer("ok \(getpid())")
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    guard let command = words.first else { continue }
    if command == "exit" { break }
    do throws(SharedCoreError) {
        answer("ok " + (try await peer.run(command, Array(words.dropFirst()))))
    } catch {
        answer("error \(error.code) \(error)")
    }
}
exit(0)
