internal import Glibc
internal import Platform

extension Maildir {
    /// The files in `new`.
    struct Arrivals: Sendable {
        /// Regular files, by their names, which begin with the time of delivery where a mail transfer agent made them.
        var messages: [FileName] = []
        /// Anything else with a name that could be a message's.
        var others: [FileName] = []
        /// Whether there are more messages than these.
        var isPartial = false

        /// Inserts a message in its order, in the place of the last one where there are as many as may be.
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
        try new.forEachName { bytes, type in
            let name = FileName(Array(bytes))
            if name.isHidden { return true }
            if isFile(name, type: Int(type)) {
                if isWanted(name) { arrivals.insert(name, limit: limit) }
            } else if arrivals.others.count < limit {
                arrivals.others.append(name)
            }
            return true
        }
        return arrivals
    }

    private func isFile(_ name: FileName, type: Int) -> Bool {
        // Some file systems do not tell the type with the name.
        guard type == DT_UNKNOWN else { return type == DT_REG }
        var found = stat()
        return name.withCString { fstatat(new.descriptor, $0, &found, AT_SYMLINK_NOFOLLOW) } == 0
            && found.st_mode & S_IFMT == S_IFREG
    }

    /// The file that was found under a name of `new`.
    enum Opened: Sendable {
        /// A file that no process is writing.
        case file(OpenFile, FileStatus)
        /// A file that another process has open for writing.
        case beingWritten
        /// Something else, such as a link or a pipe. It was not opened.
        case other
        /// Nothing: another process was first.
        case nothing
    }

    /// Opens a message for reading.
    func open(_ name: FileName) throws(SystemCallError) -> Opened {
        var found = stat()
        guard name.withCString({ fstatat(new.descriptor, $0, &found, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            let number = errno
            if number == ENOENT { return .nothing }
            throw SystemCallError("fstatat", number: number, at: location(of: name))
        }
        guard found.st_mode & S_IFMT == S_IFREG else { return .other }
        let descriptor = name.withCString {
            openat(new.descriptor, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        }
        guard descriptor >= 0 else {
            let number = errno
            if number == ENOENT { return .nothing }
            throw SystemCallError("openat", number: number, at: location(of: name))
        }
        let file = OpenFile(owning: descriptor, path: location(of: name))
        let status = try file.status()
        // Between the two calls it may have been exchanged.
        guard status.isRegularFile else { return .other }
        return isBeingWritten(file, modified: found.st_mtim) ? .beingWritten : .file(file, status)
    }

    func location(of name: FileName) -> String {
        "\(new.path)/\(name)"
    }

    /// Returns whether a copy of the file is still on its way. A program that delivers as Maildir asks moves a complete
    /// file in, but people copy files there as well.
    private func isBeingWritten(_ file: OpenFile, modified: timespec) -> Bool {
        if let isWritten = try? file.hasWriters() { return isWritten }
        // The file system cannot tell: a file that was written to within the last second may be written to again.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return (0...1).contains(now.tv_sec - modified.tv_sec)
    }
}
