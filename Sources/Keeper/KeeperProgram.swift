internal import KeptSockets
internal import Platform
internal import ProgramOutput

/// The parent process of a Main. It outlives the host that has started it, reads Main's exit status, keeps duplicates
/// of Main's sockets, and starts Main again.
///
/// `sharedcore-keeper --directory D [options] -- COMMAND...`. The program has only the main thread.
@main
enum KeeperProgram {
    static func main() {
        OwnProcess.takeDefaultSignals()
        do {
            let arguments = try OwnProcess.arguments.map { bytes throws(ProgramText.NotText) in
                try ProgramText.text(bytes)
            }
            if arguments.first == MainStart.word { MainStart.run(Array(arguments.dropFirst())) }
            ProgramStart.requireResources(for: "sharedcore-keeper", threadCount: nil)
            try keep(arguments)
        } catch let problem as ProgramText.NotText {
            fail(.usage, "the argument \(problem)")
        } catch let problem as KeeperProblem {
            fail(.usage, "\(problem.message); usage: sharedcore-keeper --directory D [options] -- COMMAND...")
        } catch let failure as KeeperFailure {
            fail(failure.status, failure.message)
        } catch {
            fail(.unavailable, "\(error)")
        }
    }

    private static func keep(_ arguments: [String]) throws {
        guard arguments.count >= 2, arguments[0] == "--directory", arguments[1].isAbsolutePath else {
            throw KeeperProblem(.malformed, "--directory takes an absolute path and comes first")
        }
        let configuration = try KeeperConfiguration(Array(arguments.dropFirst(2)))
        let seat = try KeeperLock.take(KeeperPlace(directory: arguments[1]))
        let signals = try EventCounter()
        try SignalRelay.begin([.terminate, .interrupt]) { _, _ in signals.raise() }
        try Keeper(configuration, at: seat, signals: signals).run()
        seat.leave()
    }

    private static func fail(_ status: ExitStatus, _ message: String) -> Never {
        StandardError.write("sharedcore-keeper: \(message)")
        OwnProcess.exit(status.rawValue)
    }
}

/// The reason why a keeper cannot begin.
struct KeeperFailure: Error, Hashable {
    let status: ExitStatus
    let message: String
}
