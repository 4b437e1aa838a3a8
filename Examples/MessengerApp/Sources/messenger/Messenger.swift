import Foundation
import SharedCore

/// `messenger main DIRECTORY`, `messenger push DIRECTORY ID`, and `messenger story`, which runs both.
@main
enum Messenger {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("messenger: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("main", 2):
            try await MainProgram.run(directory: arguments[1] + "/group", server: server(in: arguments[1]))
        case ("push", 3):
            guard let callID = CallID(arguments[2]) else { throw Wrong.usage }
            try await PushProgram.run(
                callID: callID, directory: arguments[1] + "/group", server: server(in: arguments[1]))
        case ("story", 1):
            try await Story().play()
        default:
            throw Wrong.usage
        }
    }

    private static func server(in directory: String) throws -> MessengerServer {
        try MessengerServer(directory: URL(filePath: directory).appending(path: "server"))
    }

    /// Prints a line at once, also where a pipe is read.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    enum Wrong: Error, CustomStringConvertible {
        case usage

        var description: String { "usage: messenger main DIRECTORY | push DIRECTORY ID | story" }
    }
}
