/// What a keeper tells of itself and of its Main: lines of a key and a value.
package struct KeeperStatus: Hashable, Sendable {
    /// The process of the keeper.
    package var keeper: Int32
    /// `down`, `waiting`, `running` or `ending`.
    package var state: String
    /// The process of Main.
    package var main: Int32?
    /// `silent`, `awake`, `asleep` or `woken`, of a Main that runs.
    package var presence: String?
    package var calls = 0
    /// How many times in a row Main has failed.
    package var failures = 0
    /// How many times this keeper has started Main.
    package var starts = 0
    /// When Main is started again.
    package var restartIn: Duration?
    /// What is left of the budget of a wake.
    package var budgetLeft: Duration?
    /// How the last Main ended: `exited 1`, `killed 9`, `notStarted` or `unseen`, with the reason of a keeper that killed.
    package var lastEnd: String?
    /// The names of the kept sockets.
    package var kept: [String] = []

    package init(keeper: Int32, state: String) {
        self.keeper = keeper
        self.state = state
    }

    package var text: String {
        var lines = [
            "keeper \(keeper)", "state \(state)", "calls \(calls)", "failures \(failures)", "starts \(starts)",
        ]
        if let main { lines.append("main \(main)") }
        if let presence { lines.append("presence \(presence)") }
        if let restartIn { lines.append("restartIn \(restartIn.milliseconds)") }
        if let budgetLeft { lines.append("budgetLeft \(budgetLeft.milliseconds)") }
        if let lastEnd { lines.append("lastEnd \(lastEnd)") }
        lines += kept.map { "kept \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Nil when it is no status. A key that is not known here is passed over.
    package init?(_ text: String) {
        var values: [String: String] = [:]
        var kept: [String] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            if parts[0] == "kept" { kept.append(parts[1]) } else { values[parts[0]] = parts[1] }
        }
        guard let keeper = values["keeper"].flatMap(Int32.init), let state = values["state"] else { return nil }
        self.init(keeper: keeper, state: state)
        main = values["main"].flatMap { Int32($0) }
        presence = values["presence"]
        calls = values["calls"].flatMap { Int($0) } ?? 0
        failures = values["failures"].flatMap { Int($0) } ?? 0
        starts = values["starts"].flatMap { Int($0) } ?? 0
        restartIn = values["restartIn"].flatMap { Int64($0) }.map { .milliseconds($0) }
        budgetLeft = values["budgetLeft"].flatMap { Int64($0) }.map { .milliseconds($0) }
        lastEnd = values["lastEnd"]
        self.kept = kept
    }
}
