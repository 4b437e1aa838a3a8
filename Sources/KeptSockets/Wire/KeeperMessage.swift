internal import CoreAPI

/// A message of a keeper: answers in the order of the requests, and events for Main.
package enum KeeperMessage: Hashable, Sendable {
    // Answers.

    case done
    case refused(KeeperProblem)
    /// A kept socket, which is attached to this message.
    case kept(name: String)
    case status(KeeperStatus)

    // Events.

    /// Data has arrived: Main has this time.
    case wake(budget: Duration)
    /// The holder of Main's ownership has woken it: Main has this time.
    case woken(budget: Duration)
    /// The time is nearly over.
    case ending(left: Duration)
}

extension KeeperMessage {
    package var text: String {
        switch self {
        case .done: "OK"
        case .refused(let problem): "ERROR \(problem.code.rawValue) \(problem.message)"
        case .kept(let name): "KEPT \(name)"
        case .status(let status): "STATUS \(status.text)"
        case .wake(let budget): "WAKE \(budget.wholeMilliseconds)"
        case .woken(let budget): "WOKEN \(budget.wholeMilliseconds)"
        case .ending(let left): "ENDING \(left.wholeMilliseconds)"
        }
    }

    /// Returns nil for an unknown message.
    package init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if text == "OK" {
            self = .done
            return
        }
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let rest = String(parts[1])
        switch parts[0] {
        case "ERROR":
            let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
            self = .refused(
                KeeperProblem(words.first.flatMap(KeeperProblem.Code.init) ?? .system, words.dropFirst().first ?? rest))
        case "KEPT": self = .kept(name: rest)
        case "STATUS":
            guard let status = KeeperStatus(rest) else { return nil }
            self = .status(status)
        case "WAKE":
            guard let count = UInt32(rest) else { return nil }
            self = .wake(budget: .milliseconds(count))
        case "WOKEN":
            guard let count = UInt32(rest) else { return nil }
            self = .woken(budget: .milliseconds(count))
        case "ENDING":
            guard let count = UInt32(rest) else { return nil }
            self = .ending(left: .milliseconds(count))
        default: return nil
        }
    }
}

/// The reason why a keeper refuses a request.
package struct KeeperProblem: Error, Hashable, Sendable {
    package enum Code: String, Hashable, Sendable {
        /// The message cannot be understood.
        case malformed
        /// The message is longer than the limit.
        case tooLong
        /// A socket must come with the message.
        case noSocket
        /// The limit of kept sockets is reached.
        case tooMany
        /// No socket of the name is kept.
        case unknown
        /// Only Main may send this request, and the connection is not Main's; or the process that it names is not Main.
        case notMain
        /// Another process is connected as Main.
        case busy
        /// The system refused it.
        case system
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// The status of a keeper and of its Main: lines of a key and a value.
package struct KeeperStatus: Hashable, Sendable {
    /// The process id of the keeper.
    package var keeper: Int32
    /// The state of the supervision: `down`, `waiting`, `running` or `ending`.
    package var state: String
    /// The process id of Main; nil while none runs.
    package var main: Int32?
    /// What a running Main has reported: `silent` (nothing), `awake`, `asleep` or `woken`; nil while none runs.
    package var presence: String?
    /// The number of active calls of Main.
    package var calls = 0
    /// How many times in a row Main has failed.
    package var failures = 0
    /// The number of times that this keeper has started Main.
    package var starts = 0
    /// The time until Main is started again; nil while no restart is due.
    package var restartIn: Duration?
    /// The rest of the budget of a wake; nil while none applies.
    package var budgetLeft: Duration?
    /// How the last Main ended: `exited 1`, `killed 9`, `notStarted` or `unseen`, with the reason of a keeper that
    /// killed.
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
        if let restartIn { lines.append("restartIn \(restartIn.wholeMilliseconds)") }
        if let budgetLeft { lines.append("budgetLeft \(budgetLeft.wholeMilliseconds)") }
        if let lastEnd { lines.append("lastEnd \(lastEnd)") }
        lines += kept.map { "kept \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Reads the text of a status; nil if it is none. Unknown keys are skipped.
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
