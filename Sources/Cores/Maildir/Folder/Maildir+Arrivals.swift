internal import Platform

extension Maildir {
    /// The files in `new`.
    struct Arrivals: Sendable {
        /// Regular files, by their names, which begin with the time of delivery where a mail transfer agent made them.
        var messages: [FileName] = []
        /// Other files and directories with names that could be those of messages.
        var others: [FileName] = []
        /// True if there are more messages than these.
        var isPartial = false

        /// Inserts a message in its order. If the limit is reached, the last one is removed.
        fileprivate mutating func insert(_ name: FileName, limit: Int) {
            if messages.count >= limit {
                isPartial = true
                guard let last = messages.last, name < last else { return }
                messages.removeLast()
            }
            var range = messages.startIndex..<messages.endIndex
            while !range.isEmpty {
                let middle = (range.lowerBound + range.upperBound) / 2
                range = messages[middle] < name ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            messages.insert(name, at: range.lowerBound)
        }
    }

    /// Lists `new` in the order of the names, in which mail transfer agents deliver. Names that begin with a dot are no
    /// messages.
    ///
    /// - Parameters:
    ///   - limit: The largest number of messages and of others. The first ones are kept while the folder is read, so a
    ///     folder of any size fits in memory.
    ///   - isWanted: Whether a message is listed.
    func arrivals(
        limit: Int, where isWanted: (FileName) -> Bool = { _ in true }
    ) throws(SystemCallError) -> Arrivals {
        var arrivals = Arrivals()
        try new.forEachName { bytes, kind in
            let name = FileName(Array(bytes))
            if name.isHidden { return true }
            if isFile(name, kind: kind) {
                if isWanted(name) { arrivals.insert(name, limit: limit) }
            } else if arrivals.others.count < limit {
                arrivals.others.append(name)
            }
            return true
        }
        return arrivals
    }

    private func isFile(_ name: FileName, kind: FileKind?) -> Bool {
        // Read the status if the file system does not return the kind together with the name.
        (kind ?? (try? status(of: name))?.kind) == .regular
    }

    private func status(of name: FileName) throws(SystemCallError) -> FileStatus {
        try name.withCString { name in Result { () throws(SystemCallError) in try new.status(of: name) } }.get()
    }

    /// The file that was found under a name of `new`.
    enum Opened: Sendable {
        /// A file that no process is writing.
        case file(OpenFile, FileStatus)
        /// A file that another process has open for writing.
        case beingWritten
        /// Not a regular file, such as a link or a pipe. It was not opened.
        case other
        /// No file: another process has moved or removed it.
        case nothing
    }

    /// Opens a message for reading.
    func open(_ name: FileName) throws(SystemCallError) -> Opened {
        do throws(SystemCallError) {
            return try openPresent(name)
        } catch {
            guard error.isAbsent else { throw error }
            return .nothing
        }
    }

    private func openPresent(_ name: FileName) throws(SystemCallError) -> Opened {
        let found = try status(of: name)
        guard found.isRegularFile else { return .other }
        let file = try name.withCString { name in
            Result { () throws(SystemCallError) in try new.open(name) }
        }.get()
        let status = try file.status()
        // The file may have been replaced between the two calls.
        guard status.isRegularFile else { return .other }
        return isBeingWritten(file, modified: found.modifiedSeconds) ? .beingWritten : .file(file, status)
    }

    func location(of name: FileName) -> String {
        "\(new.path)/\(name)"
    }

    /// Returns true if a process may still be writing the file. A program that follows the rules of Maildir moves a
    /// complete file in, but users also copy files there.
    private func isBeingWritten(_ file: OpenFile, modified: Int) -> Bool {
        if let isWritten = try? file.hasWriters() { return isWritten }
        // The file system does not report writers: a file that was written to within the last second may be written to
        // again.
        return (0...1).contains(SystemClock.secondsSince1970 - modified)
    }
}
