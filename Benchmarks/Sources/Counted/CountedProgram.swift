internal import Figures
internal import Glibc

/// Repeats the work of one of the in-process figures: `NAME COUNT`, for a tool that counts instructions.
///
/// Without arguments it prints the names. See `Scripts/count-instructions`.
@main
enum CountedProgram {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for figure in InProcessFigure.all { print(figure.name) }
            return
        }
        guard let figure = InProcessFigure.all.first(where: { $0.name == name }),
            let count = arguments.dropFirst().first.flatMap({ Int($0) })
        else { fail("usage: NAME COUNT", status: 64) }
        Task.detached {
            do {
                try await figure.run(count, .init())
                exit(0)
            } catch {
                fail("\(error)", status: 1)
            }
        }
        // An asynchronous `main` would wait in `dispatch_main`, which has a constant signal mask: valgrind 3.19 writes
        // to the mask of `sigsuspend` and crashes.
        while true { pause() }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        var line = message + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(status)
    }
}
