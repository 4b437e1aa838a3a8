/// What a keeper says: answers in the order of the requests, and to Main what happens.
package enum KeeperMessage: Hashable, Sendable {
    // Answers.

    case done
    case refused(KeeperProblem)
    /// A kept socket, which comes with this message.
    case kept(name: String)
    case status(KeeperStatus)

    // What happens.

    /// Data has come: you have so much time.
    case wake(budget: Duration)
    /// The time is over soon.
    case ending(left: Duration)
}

extension KeeperMessage {
    package var text: String {
        switch self {
        case .done: "OK"
        case .refused(let problem): "ERROR \(problem.code.rawValue) \(problem.message)"
        case .kept(let name): "KEPT \(name)"
        case .status(let status): "STATUS \(status.text)"
        case .wake(let budget): "WAKE \(budget.milliseconds)"
        case .ending(let left): "ENDING \(left.milliseconds)"
        }
    }

    /// Nil when it is none that is known here.
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
        case "ENDING":
            guard let count = UInt32(rest) else { return nil }
            self = .ending(left: .milliseconds(count))
        default: return nil
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down, from zero on.
    package var milliseconds: Int64 {
        max(0, components.seconds.multipliedReportingOverflow(by: 1000).partialValue)
            + max(0, components.attoseconds / 1_000_000_000_000_000)
    }
}
