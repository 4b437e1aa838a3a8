internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// A lock outside of the group that each core holds while it runs, so that two at once are seen regardless of the
/// group.
struct Witness: Sendable {
    private let directory: String

    init(directory: String) throws {
        self.directory = directory
        try Attempt.makeDirectory(directory)
    }

    /// The command of a core: it takes the lock, says “owning” and runs until it is ended. The kernel frees the lock with it.
    var command: [String] { command(thenRunning: "sleep 1000") }

    /// The command of a core that takes the lock and ends.
    var shortCommand: [String] { command(thenRunning: "true") }

    private func command(thenRunning rest: String) -> [String] {
        let script = """
            exec 9>>"$0/lock"
            flock -n 9 || { echo overlap >>"$0/overlaps"; flock -w "$1" 9 || echo longer >>"$0/overlaps"; }
            echo owning
            exec \(rest)
            """
        return ["sh", "-c", script, directory, "\(Self.windowSeconds)"]
    }

    /// The time for which a core may run after the group's files were removed or replaced: the interval at which each
    /// process polls, and the time to stop.
    static let windowSeconds = 12

    /// Demands that no two cores have run at once.
    func verify(withinWindow: Bool = false) throws {
        let overlaps = Attempt.text(ofFile: directory + "/overlaps")
        if withinWindow {
            try expect(!overlaps.contains("longer"), "two cores ran at once for at most \(Self.windowSeconds) s")
        } else {
            try expect(overlaps.isEmpty, "no two cores ran at once")
        }
    }
}
