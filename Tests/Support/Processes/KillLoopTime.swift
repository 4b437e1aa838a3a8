internal import Glibc

/// How long processes are killed at random. In a test of every change a moment; the environment variable
/// `SHAREDCORE_TEST_KILL_MINUTES` says how many minutes otherwise.
package enum KillLoopTime {
    package static var minutes: Int? {
        getenv("SHAREDCORE_TEST_KILL_MINUTES").flatMap { Int(String(cString: $0)) }
    }

    package static func duration(or short: Duration) -> Duration {
        minutes.map { .seconds(60 * $0) } ?? short
    }
}
