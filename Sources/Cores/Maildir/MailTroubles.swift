/// The failures that may pass, of a Maildir and of its messages, each of which is reported once.
struct MailTroubles {
    /// How many messages' troubles are known at a time. More are not reported.
    private static let knownCount = 100

    /// The messages that met one, in the order in which they were tried last.
    private var messages: [FileName] = []
    /// The troubles that messages have: many may have the same one, such as a full disk.
    private var known: [FileName: String] = [:]
    /// The trouble with the folder that was noted last; nil since it could be read.
    private var folder: String?

    mutating func folderWasRead() { folder = nil }

    /// Notes a failure with a message, or with the folder when it is nil.
    ///
    /// - Returns: Whether to report it: no other message has it, or the folder could be read since it had it.
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

    /// Returns the messages, those with troubles last, so that they hold up no other. Messages that are gone are
    /// forgotten.
    mutating func last(_ names: [FileName]) -> [FileName] {
        guard !messages.isEmpty else { return names }
        let standing = Set(names)
        for name in messages where !standing.contains(name) { known[name] = nil }
        messages.removeAll { !standing.contains($0) }
        let troubled = Set(messages)
        return names.filter { !troubled.contains($0) } + messages
    }
}
