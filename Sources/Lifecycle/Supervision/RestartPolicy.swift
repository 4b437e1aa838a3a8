/// How a Main that failed is brought back (contract P8): the first time at once, then after a delay that doubles, and no
/// more than so many times in any window of time.
package struct RestartPolicy: Hashable, Sendable {
    /// The delay of the second restart in a row; each further one waits twice as long as the one before.
    package var firstDelay = Duration.seconds(1)
    /// The longest delay.
    package var longestDelay = Duration.seconds(60)
    /// How many restarts any window may hold, 1 or more. One that is too many waits until the oldest has left the window:
    /// supervision never gives up for good.
    package var limit = 10
    /// The length of the window.
    package var window = Duration.seconds(600)
    /// A Main that ran this long was well: its next failure counts as the first.
    package var steadyAfter = Duration.seconds(60)

    package init() {}

    /// What the restart after so many failures in a row waits.
    package func delay(afterFailures failures: Int) -> Duration {
        guard failures > 1 else { return .zero }
        var delay = firstDelay
        for _ in 2..<failures where delay < longestDelay { delay += delay }
        return min(delay, longestDelay)
    }
}
