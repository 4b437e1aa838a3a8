package import CoreAPITesting
internal import Glibc

/// The extent of the tests that are run. `make test` leaves out the long tests; `make check` runs all tests that every
/// change must pass. `Docs/Internals/Testing.md` lists the omitted tests, and a test of the documentation compares that
/// list with the code.
package enum TestScope {
    private static let scope = getenv("TEST_SCOPE").map { String(cString: $0) }

    /// True if `TEST_SCOPE` is `length`: all tests that take too long for every change, as in `make at-length`.
    package static let isAtLength = scope == "length"

    /// True if `TEST_SCOPE` is `check` or `length`.
    package static let isCheck = scope == "check" || isAtLength

    /// The cases of the conformance suite that take long. `make test` tries them in memory alone, and `make check`
    /// leaves them out where it tries a backend in another way once more.
    package static let longCases: Set = ["S6d", "W3a", "W3c", "W4a", "N6g", "N8a", "C9f", "M6f"]

    /// The long cases that `make test` leaves out in memory as well. It tries the others with a ``BriefHarness``.
    package static let longestCases: Set = ["S6d"]

    /// The cases that `make test` tries in files, through a hub and over a log.
    ///
    /// Of each rule it is the first case that is not long and that can be tried on processes which share a group.
    package static let casesOnce = ConformanceSuite.cases.filter { conformanceCase in
        let ofRule = ConformanceSuite.cases.filter { $0.rule == conformanceCase.rule }
        let first = ofRule.first { !longCases.union(["S15a", "L1d", "L3a"]).contains($0.id) } ?? ofRule.first
        return first?.id == conformanceCase.id
    }

    /// The cases that `SHAREDCORE_TEST_CASES` names; nil without the variable.
    package static let chosenCases = ConformanceSuite.chosenCases

    /// The cases to try on memory.
    package static let casesInMemory =
        chosenCases ?? ConformanceSuite.cases.filter { isCheck || !longestCases.contains($0.id) }

    /// The cases to try on a backend that processes share.
    package static let cases = chosenCases ?? (isCheck ? ConformanceSuite.cases : casesOnce)

    /// The cases for a backend with commits that cost more than those in memory and in files: the one of half a million
    /// posts only where tests run at length.
    package static let casesOfCostlyCommits =
        isAtLength || chosenCases != nil ? cases : cases.filter { $0.id != "N8a" }

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
