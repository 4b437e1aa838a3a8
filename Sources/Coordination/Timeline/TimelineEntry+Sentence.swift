internal import CoreAPI

extension TimelineEntry {
    /// One sentence that tells people what happened, without the time.
    public func describe() -> String {
        let sentence = "\(who) \(event)"
        return reason.isEmpty ? sentence + "." : sentence + ": " + reason
    }

    private var who: String {
        let title =
            switch role {
            case .main: "Main"
            case .executor: "Executor"
            default: role.rawValue.isEmpty ? "A participant" : "The \(role.rawValue)"
            }
        return name.isEmpty ? "\(title) (pid \(pid))" : "\(title) “\(name)” (pid \(pid))"
    }

    private var event: String {
        switch kind {
        case .asked:
            "asked \(owner(other)) to hand over" + (bound.map { " within \($0.milliseconds)" } ?? "")
        case .acquired: "owns the core now, as \(own)" + (previous.map { "; \($0.sentence)" } ?? "")
        case .tookOver: "took the core over, as \(own)" + (previous.map { "; \($0.sentence)" } ?? "")
        case .stateChanged: "went from \(state(from)) to \(state(to)), as \(own)"
        case .released: "released the core, \(own)"
        case .killed: "killed the process of \(owner(other))"
        case .fenced: "learned that it owns the core no more, \(own)"
        case .refused: "was refused" + (other.map { ", epoch \($0) stands" } ?? "")
        case .coreStarted: "started its core, \(own)"
        case .coreStopped: "stopped its core, \(own)"
        case .coreGivenUp: "gave up its core, which did not stop in time, \(own)"
        case .overlap: "saw the core of \(owner(other)) run at the same time as its own, \(own)"
        case .supersededOverlap:
            "saw the superseded core of \(owner(other)) still run beside its own, \(own)"
        case .challenged: "challenged \(owner(other)) to answer"
        case .problem: "set something aside"
        }
    }

    private var own: String { epoch.map { "epoch \($0)" } ?? "without an epoch" }

    private func owner(_ epoch: Revision?) -> String { epoch.map { "epoch \($0)" } ?? "the owner" }

    private func state(_ state: OwnerState?) -> String { state?.description ?? "nothing" }
}

extension PreviousOwnership {
    /// How it ended, for people.
    fileprivate var sentence: String {
        switch end {
        case .released: "epoch \(epoch) was released"
        case .sessionEnded: "epoch \(epoch) ended with its session"
        case .unanswered: "epoch \(epoch) did not answer and is fenced"
        case .deadlinePassed: "epoch \(epoch) did not let go in time and is fenced; its core may still run"
        case .replaced: "epoch \(epoch) is replaced and fenced"
        }
    }
}

extension Duration {
    fileprivate var milliseconds: String { "\(clampedNanoseconds / 1_000_000) ms" }
}
