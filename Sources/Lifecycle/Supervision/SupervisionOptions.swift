/// How a Main is supervised.
package struct SupervisionOptions: Hashable, Sendable {
    package var restart = RestartPolicy()
    /// How long a Main that is awake may say nothing before it is killed; nil when it need not say anything.
    package var watchdog: Duration?
    /// How long a Main may run after it was woken by data, or started for it (contract P6).
    package var wakeBudget = Duration.seconds(10)
    /// How long after the wake it is told that the budget ends.
    package var wakeWarning = Duration.seconds(8)
    /// How long a Main that is asked to end may take.
    package var stopGrace = Duration.seconds(5)

    package init() {}
}
