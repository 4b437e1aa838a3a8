internal import CoreAPI
internal import Platform

/// The marks of messages that are being read: a symbolic link in `tmp` for each process that reads. Its name identifies
/// the process, `sharedcore-reading-PID-START-TIME-NAMESPACE`, and its target is the name of the message's file.
///
/// The mark exists only while the message is read. If a new core finds a mark, then either the mark's process has ended
/// during the read, or it lives and is another core that reads the folder. A link is created and removed in one system
/// call each. A commit to the group would take a hundred times as long, and if the process were killed during the
/// commit, the message would be blamed.
extension Maildir {
    /// The beginning of each mark's name.
    private static let markPrefix = Array("sharedcore-reading".utf8)
    /// The number of marks that a core handles at a time. The next core finds the rest.
    private static let markLimit = 100

    /// Reads a message, marked as being read.
    ///
    /// If the file system cannot create a link, for example because it is full, or another core of this process reads,
    /// nothing is marked: a message that then ends this process is not detected.
    func marking<Value>(_ name: FileName, while read: () -> Value) -> Value {
        let mark = Self.mark(of: .current, in: ProcessIdentity.currentNamespace)
        let isMarked = name.withCString { target in
            mark.withCString { tmp.link($0, leadingTo: target) }
        }
        defer { if isMarked { unmark(mark) } }
        return read()
    }

    /// Returns the name of a process's mark.
    static func mark(of process: ProcessIdentity, in namespace: UInt64) -> FileName {
        FileName(markPrefix + Array("-\(process.pid)-\(process.startTime)-\(namespace)".utf8))
    }

    /// A mark of a process that has ended.
    struct LeftMark: Sendable {
        let name: FileName
        /// The message that the process was reading when it ended.
        let message: FileName
    }

    /// Returns the marks of processes that have ended, and those that identify no process.
    func leftMarks() throws(SystemCallError) -> [LeftMark] {
        var names: [FileName] = []
        try tmp.forEachName { bytes, _ in
            let name = FileName(Array(bytes))
            if name.bytes.starts(with: Self.markPrefix), !Self.isOfReader(name) { names.append(name) }
            return names.count < Self.markLimit
        }
        var marks: [LeftMark] = []
        for name in names {
            if let message = try target(of: name) { marks.append(LeftMark(name: name, message: message)) }
        }
        return marks
    }

    /// Returns the target of a mark; nil if there is no link.
    private func target(of mark: FileName) throws(SystemCallError) -> FileName? {
        try mark.withCString { mark in
            Result { () throws(SystemCallError) in try tmp.target(of: mark, upTo: FileName.maximumByteCount) }
        }.get().map { FileName($0) }
    }

    /// Returns whether a mark belongs to a process that lives.
    private static func isOfReader(_ mark: FileName) -> Bool {
        let words = mark.bytes.dropFirst(markPrefix.count).split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let numbers = words.dropFirst().compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        guard words.count == 4, numbers.count == 3, let pid = Int32(exactly: numbers[0]) else { return false }
        // A process id of another namespace has no meaning here: containers end with their namespaces.
        guard numbers[2] == ProcessIdentity.currentNamespace, numbers[2] != 0, let reader = ProcessIdentity(of: pid)
        else { return false }
        return reader.startTime == numbers[1] && reader.liveness == .alive
    }

    /// Removes a mark.
    func unmark(_ mark: FileName) {
        mark.withCString { tmp.remove($0) }
    }
}
