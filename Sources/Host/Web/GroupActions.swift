internal import Coordination
internal import CoreAPI
internal import ExecutorRun
package import ProgramOutput

/// An action of the page: an ``Operation`` of the commands.
package struct GroupAction: Sendable {
    let operation: Operation

    /// The names of all actions.
    package static let names = [
        "retry-pushes", "drop-push", "pause-host", "resume-host", "hand-over", "end-session", "compact",
    ]

    /// Reads an action from its name and its arguments.
    ///
    /// - Parameters:
    ///   - name: One of ``names``.
    ///   - arguments: `call-id` of `drop-push`, `epoch` of `hand-over`, `session` of `end-session`.
    /// - Returns: Nil if an argument is missing or wrong.
    package init?(_ name: String, _ arguments: [String: String]) {
        switch name {
        case "retry-pushes": operation = .retryPushes
        case "drop-push":
            guard let callID = arguments["call-id"].flatMap(PushID.callID) else { return nil }
            operation = .dropPushes(callID)
        case "pause-host": operation = .pauseHost
        case "resume-host": operation = .resumeHost
        case "hand-over":
            // The request must name the epoch that the user has seen, so that no later owner is ended by mistake.
            guard let epoch = arguments["epoch"].flatMap({ UInt64($0) }) else { return nil }
            operation = .handOver(epoch: Revision(rawValue: epoch), isForced: false)
        case "end-session":
            guard let session = arguments["session"] else { return nil }
            operation = .endSession(session, isForced: false)
        case "compact": operation = .compact
        default: return nil
        }
    }
}

extension GroupReports {
    /// Takes an action, as the command does, but starts no hub.
    ///
    /// - Parameters:
    ///   - incarnation: The incarnation of the group that the user has seen, as the document of the timeline names it.
    ///   - user: The number of the acting user, for the timeline.
    /// - Returns: What the command prints: `text`, and the fields of its `--json`.
    package nonisolated func take(
        _ action: GroupAction, in incarnation: String, by user: UInt32
    ) async throws(Failure) -> JSONObject {
        do {
            // The check runs when the group is open, so the action cannot apply to a group that replaces this one
            // later.
            let receipt = try await context.perform(action.operation, for: "web", by: user, startsHub: false) {
                guard try await self.presentIncarnation() == incarnation else {
                    throw CommandFailure(
                        .no, "another group is there than the one that was shown, or it was opened anew")
                }
            }
            var document: JSONObject = ["text": .text(receipt.text), "done": .flag(receipt.isDone)]
            for (name, value) in receipt.json.members { document.append(name, value) }
            return document
        } catch let failure as Failure {
            throw failure
        } catch let failure as CommandFailure {
            throw Failure(cause: failure, isInvalid: false)
        } catch let error as SharedCoreError {
            throw Failure(cause: CommandFailure(error), isInvalid: false)
        } catch {
            throw Failure(cause: CommandFailure(.unavailable, "\(error)"), isInvalid: false)
        }
    }
}
