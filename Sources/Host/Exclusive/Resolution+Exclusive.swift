internal import Coordination

extension Resolution {
    /// How `exclusive` handles ownership, and how long its command has from SIGTERM to SIGKILL: a little less than a Main
    /// waits for a core that is stopping, so that the core is released in time.
    func exclusiveOptions() throws(CommandFailure) -> (coordination: CoordinationOptions, grace: Duration) {
        var options = try coordinationOptions()
        let bound = max(options.handoverDeadline, options.stopBound)
        let grace = bound - min(bound / 5, .seconds(1))
        // A killed program may take a moment to be gone.
        options.stopBound = max(options.stopBound, grace + .seconds(5))
        return (options, grace)
    }
}
