internal import CoreAPI
internal import FileNotifyBackend
internal import Foundation

/// `counter add DIRECTORY [TIMES]` and `counter show DIRECTORY [--follow]`.
@main
enum CounterProgram {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("counter: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("add", 2): try await add(1, in: arguments[1])
        case ("add", 3):
            guard let times = Int(arguments[2]), times > 0 else { throw Wrong.usage }
            try await add(times, in: arguments[1])
        case ("show", 2):
            try await with(arguments[1]) { counter in say(try await counter.number()) }
        case ("show", 3) where arguments[2] == "--follow":
            try await with(arguments[1]) { counter in try await counter.follow(say) }
        default: throw Wrong.usage
        }
    }

    private static func add(_ times: Int, in directory: String) async throws {
        try await with(directory) { counter in
            for time in 1...times {
                let sum = try await counter.addOne()
                if time == times { say(sum) }
            }
        }
    }

    private static func with(_ directory: String, _ body: (SharedCounter) async throws -> Void) async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(name: "counter"))
        try await body(SharedCounter(store: group))
        await group.close()
    }

    /// A line at once, also where a pipe is read.
    private static func say(_ number: Int) {
        FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }

    enum Wrong: Error, CustomStringConvertible {
        case usage

        var description: String { "usage: counter add DIRECTORY [TIMES] | counter show DIRECTORY [--follow]" }
    }
}
