package import CoreAPITesting
internal import Glibc

/// The extent of the tests that are run. `make test` leaves out what takes long; `make check` runs all that every
/// change must pass. `Docs/Testing.md` lists what is left out, and a test of the documentation compares the list with
/// the code.
package enum TestScope {
    private static let scope = getenv("TEST_SCOPE").map { String(cString: $0) }

    /// Whether `TEST_SCOPE` is `length`: all tests that take too long for every change, as in `make at-length`.
    package static let isAtLength = scope == "length"

    /// Whether `TEST_SCOPE` is `check` or `length`.
    package static let isCheck = scope == "check" || isAtLength

    /// The cases of the conformance suite that take long. `make test` leaves them out where a commit costs more than in
    /// memory and in files, and `make check` where it tries a backend in another way once more.
    package static let longCases: Set = ["S6d", "W3a", "W3c", "W4a", "N6g", "N8a", "C9f", "M6f"]

    /// The long cases that `make test` leaves out on every backend. It tries the others in memory and in files, with a
    /// ``BriefHarness``.
    package static let longestCases: Set = ["S6d"]

    /// The cases of an id or a rule in `SHAREDCORE_TEST_CASES`, to find the fault behind one; nil without the variable.
    package static let chosenCases: [ConformanceCase]? = getenv("SHAREDCORE_TEST_CASES").map { names in
        let cases = String(cString: names).split(separator: ",").flatMap {
            ConformanceSuite.cases(matching: String($0))
        }
        precondition(!cases.isEmpty, "SHAREDCORE_TEST_CASES names no case.")
        return cases
    }

    /// The cases that a backend is tried on.
    package static let cases =
        chosenCases ?? ConformanceSuite.cases.filter { isCheck || !longestCases.contains($0.id) }

    /// The cases for a backend with commits that cost more than those in memory and in files: the one of half a million
    /// posts only where tests run at length.
    package static let casesOfCostlyCommits =
        isAtLength || chosenCases != nil
        ? cases : cases.filter { isCheck ? $0.id != "N8a" : !longCases.contains($0.id) }

    /// The harness that the suite runs on: with fewer commits in `make test`.
    package static func harness(_ harness: any ConformanceHarness) -> any ConformanceHarness {
        isCheck || chosenCases != nil ? harness : BriefHarness(harness)
    }
}

extension Seed {
    /// Returns the seeds 1 to `count` - 1, and a random one; in `make test` a quarter as many.
    ///
    /// The environment variable `SHAREDCORE_TEST_SEED` replays one seed (decimal) instead of all others.
    package static func several(_ count: Int) -> [Seed] {
        if let seed = getenv("SHAREDCORE_TEST_SEED").flatMap({ UInt64(String(cString: $0)) }) {
            return [Seed(rawValue: seed)]
        }
        let count = UInt64(max(TestScope.isCheck ? count : (count + 3) / 4, 1))
        return (1..<count).map(Seed.init) + [Seed(rawValue: UInt64.random(in: 1...UInt64.max))]
    }
}

/// The time for which processes are killed at random. In a test of every change a moment, three minutes where tests run
/// at length, or as many as the environment variable `SHAREDCORE_TEST_KILL_MINUTES` says.
package enum KillLoopTime {
    package static var minutes: Int? {
        getenv("SHAREDCORE_TEST_KILL_MINUTES").flatMap { Int(String(cString: $0)) } ?? (TestScope.isAtLength ? 3 : nil)
    }

    package static func duration(or short: Duration) -> Duration {
        minutes.map { .seconds(60 * $0) } ?? short
    }
}
