import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation

@main
enum Pair {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
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
