internal import CoreAPI
internal import Lifecycle
internal import ProgramOutput
internal import SharedCoreConfiguration

/// An event of a host, for observers.
enum HostEvent: Sendable {
    /// A push was taken from the queue.
    case taken(callID: String)
    case started(callID: String, pid: Int32, attempt: Int)
    case ended(callID: String, pid: Int32, ExecutorEnd)
    /// A push was handled, this long after it came.
    case served(callID: String, after: Duration?)
    /// A push waits for its next attempt.
    case postponed(callID: String, failures: Int, pause: Duration, reason: String)
    /// A push is not tried again unless a user asks for it.
    case givenUp(callID: String, failures: Int, reason: String)

    var text: String {
        switch self {
        case .taken(let callID): "push \(shown(callID))"
        case .started(let callID, let pid, let attempt):
            "push \(shown(callID)): Executor \(pid)" + (attempt > 1 ? ", attempt \(attempt)" : "")
        case .ended(let callID, let pid, let end):
            "push \(shown(callID)): Executor \(pid): \(end.description), after \(DurationText.write(end.duration))"
        case .served(let callID, let age):
            "push \(shown(callID)): served" + (age.map { ", \(DurationText.write($0)) after it came" } ?? "")
        case .postponed(let callID, _, let pause, let reason):
            "push \(shown(callID)): \(reason); tried again in \(DurationText.write(pause))"
        case .givenUp(let callID, let failures, let reason):
            "push \(shown(callID)): given up after \(failures) attempts: \(reason)"
        }
    }

    var json: JSONObject {
        switch self {
        case .taken(let callID): ["event": "taken", "callID": .text(callID)]
        case .started(let callID, let pid, let attempt):
            [
                "event": "started", "callID": .text(callID), "pid": .integer(Int64(pid)),
                "attempt": .integer(Int64(attempt)),
            ]
        case .ended(let callID, let pid, let end):
            [
                "event": "ended", "callID": .text(callID), "pid": .integer(Int64(pid)),
                "status": .integer(Int64(end.status)), "reason": .text(end.word),
                "warned": .optional(end.warning?.word),
                "elapsedMs": .natural(end.duration.wholeMilliseconds),
                "printed": .optional(end.line?.text), "printedIsCut": .flag(end.line?.isCut ?? false),
            ]
        case .served(let callID, let age):
            [
                "event": "served", "callID": .text(callID),
                "elapsedMs": age.map { .natural($0.wholeMilliseconds) } ?? .null,
            ]
        case .postponed(let callID, let failures, let pause, let reason):
            [
                "event": "postponed", "callID": .text(callID), "failures": .integer(Int64(failures)),
                "pauseMs": .natural(pause.wholeMilliseconds), "reason": .text(reason),
            ]
        case .givenUp(let callID, let failures, let reason):
            [
                "event": "givenUp", "callID": .text(callID), "failures": .integer(Int64(failures)),
                "reason": .text(reason),
            ]
        }
    }

    private func shown(_ callID: String) -> String { "“\(ValueText.oneLine(callID))”" }
}
