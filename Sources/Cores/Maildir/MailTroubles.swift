/// The temporary failures of a Maildir and of its messages. Each is reported once.
struct MailTroubles {
    /// The maximum number of messages with known failures. Failures of further ones are not reported.
    private static let knownCount = 100

    /// The messages that failed, in the order of their last try.
    private var messages: [FileName] = []
    /// The failures of messages. Many may have the same one, such as a full disk.
    private var known: [FileName: String] = [:]
    /// The trouble with the folder that was noted last; nil since it could be read.
    private var folder: String?

    mutating func folderWasRead() { folder = nil }

    /// Records a failure of a message, or of the folder if `name` is nil.
    ///
    /// - Returns: True if the failure must be reported: no other message has it, or the folder could be read since its
    ///   last failure.
    mutating func note(_ problem: String, with name: FileName?) -> Bool {
        guard let name else {
            defer { folder = problem }
            return folder != problem
        }
        messages.removeAll { $0 == name }
        messages.append(name)
        guard known[name] != nil || known.count < Self.knownCount else { return false }
        let isNew = !known.values.contains(problem)
        known[name] = problem
        return isNew
    }

    mutating func forget(_ name: FileName) {
        messages.removeAll { $0 == name }
        known[name] = nil
    }

    /// Returns the messages, those with failures last, so that they delay no other. Forgets messages that are no longer
    /// there.
    mutating func last(_ names: [FileName]) -> [FileName] {
        guard !messages.isEmpty else { return names }
        let standing = Set(names)
        for name in messages where !standing.contains(name) { known[name] = nil }
        messages.removeAll { !standing.contains($0) }
        let troubled = Set(messages)
        return names.filter { !troubled.contains($0) } + messages
    }
}
