internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import ProgramOutput

/// One push of a soak: the fault of its Executor, and the result.
struct SoakAttempt: Sendable, CustomStringConvertible {
    let fault: SoakFault
    let result: PushResult

    var description: String {
        let line = result.line.map { line in
            "\(line.event) from \(line.source ?? "nowhere") after \(line.elapsedMs) ms, \(line.coreStarts) cores"
        }
        return "\(fault): \(result.end.sentence), \(line ?? "no line")"
    }
}

/// The evidence about one message of a soak, for a complaint: its pushes, its state in the inbox and the timeline
/// entries about it.
struct SoakEvidence: Sendable, CustomStringConvertible {
    let attempts: [SoakAttempt]
    /// The state of the message in the inbox, with the session that wrote it and its revision; the error if it cannot
    /// be read.
    let state: String
    /// The entries of the Executors that were started for the message, of the session that ended it, and those that name its file.
    let entries: [String]

    init(of mail: DemoMail, _ attempts: [SoakAttempt], in group: any SharedGroup) async {
        self.attempts = attempts
        var author: SessionID?
        do throws(SharedCoreError) {
            let found = try await Inbox(group).find(MessageID(mail.callID))
            author = found.item.mark?.origin
            let place = found.item.mark.map { " by session \($0.origin) at revision \($0.revision)" }
            state = "\(found.state)" + (place ?? "")
        } catch {
            state = error.sentence
        }
        let records = (try? await Timeline(group).history().records) ?? []
        entries = records.filter { record in
            record.entry.participant == author || record.entry.name.hasPrefix("push \(mail.number) ")
                || record.entry.name == "push \(mail.number)" || record.entry.reason.contains(mail.fileName)
        }.map { "\($0.revision): \($0.entry.describe())" }
    }

    var description: String {
        let pushes = attempts.enumerated().map { number, attempt in "  push \(number + 1): \(attempt)" }
        return (pushes + ["  inbox: \(state)"] + entries.map { "  " + $0 }).joined(separator: "\n")
    }
}
