import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation

@main
enum Pair {
    static func main() async {
        do {
            try await run(CommandLine.arguments.dropFirst())
        } catch {
            // A message that does not come in time is no reason to crash.
            FileHandle.standardError.write(Data("pair: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ words: ArraySlice<String>) async throws {
        let directory = URL(filePath: "data").path
        let box = try LetterBox(in: directory)
        switch (words.first, words.dropFirst().first.flatMap { CallID($0) }) {
        case ("main", nil): try await runMain(directory + "/group", box)
        case ("push", let callID?): try await runExecutor(directory + "/group", box, callID)
        case ("close", nil): try await close(directory + "/group")
        default: say("usage: pair main | pair push ID | pair close")
        }
    }

    /// Prints a line at once, also into a file.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
