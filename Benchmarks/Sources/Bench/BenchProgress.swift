internal import Glibc
internal import ProgramOutput
internal import Synchronization

/// The progress of a measurement, on standard error where that is a terminal.
final class BenchProgress: Sendable {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let total: Int
    private let done = Mutex(0)

    init(of figures: [Figure]) {
        total = figures.reduce(0) { $0 + $1.rounds }
    }

    func begin(_ name: String) {
        if isShown { ProgressBar.show(done.withLock { $0 }, of: total, at: name) }
    }

    func advance(_ name: String) {
        let count = done.withLock { done in
            done += 1
            return done
        }
        if isShown { ProgressBar.show(count, of: total, at: name) }
    }

    func clear() {
        if isShown { ProgressBar.clear() }
    }
}
