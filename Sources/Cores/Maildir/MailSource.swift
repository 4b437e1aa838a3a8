internal import Coordination
internal import CoreAPI
internal import Platform

/// The blocking part of the core: folder, arrival reports and reader. Its calls are for the core's own thread.
struct MailSource: Sendable {
    let path: String
    let arrivalSignal: ArrivalSignal
    let reader: MailReader

    /// Loads the library, opens the Maildir and begins to listen.
    init(path: String, limits: MailLimits) throws(SharedCoreError) {
        reader = MailReader(library: try MimeLibrary.shared(), limits: limits)
        self.path = path
        do throws(SystemCallError) {
            arrivalSignal = try ArrivalSignal()
            try arrivalSignal.listen(to: Maildir(path: path).new)
        } catch {
            throw error.isNotDirectory
                ? SharedCoreError(
                    .invalidArgument, "A Maildir is a directory, with directories in it.", at: error.location,
                    cause: error.text)
                : SharedCoreError(error)
        }
    }

    /// The maximum number of messages that one call lists.
    private static let listLimit = 1_000

    /// The result of listing the folder, with the folders as they were then.
    struct Look: Sendable {
        let maildir: Maildir
        let arrivals: Maildir.Arrivals
        /// The marks of processes that have ended. They stay until they were counted.
        let marks: [Maildir.LeftMark]
    }

    /// Lists the arrivals.
    ///
    /// The folders are opened again each time, so that a moved or removed folder is detected. Reports begin before the
    /// folder is listed, so that no arrival is missed.
    ///
    /// - Parameter takesMarks: True to find the messages that processes were reading when they ended.
    func look(takingMarks takesMarks: Bool = false) throws(SystemCallError) -> Look {
        let maildir = try Maildir(path: path)
        try arrivalSignal.listen(to: maildir.new)
        return Look(
            maildir: maildir, arrivals: try maildir.arrivals(limit: Self.listLimit),
            marks: takesMarks ? try maildir.leftMarks() : [])
    }

    /// The file that was found under a name.
    enum Opening: Sendable {
        case file(OpenFile, byteCount: Int)
        case refused(MailRefusal)
        case beingWritten
        case other
        case nothing
    }

    /// Opens a message for reading.
    ///
    /// - Throws: Any error but a missing file or missing rights, for example a lack of descriptors.
    func open(_ name: FileName, in maildir: Maildir) throws(SystemCallError) -> Opening {
        do throws(SystemCallError) {
            switch try maildir.open(name) {
            case .file(let file, let status): return .file(file, byteCount: status.byteCount)
            case .beingWritten: return .beingWritten
            case .other: return .other
            case .nothing: return .nothing
            }
        } catch {
            guard error.isForbidden else { throw error }
            return .refused(MailRefusal(.unreadable(error.text)))
        }
    }

    /// Sets aside the empty files among some messages, in the order of their names, so that a flood of them takes no
    /// further work. Files that cannot be moved now stay.
    func setAsideEmpty(_ names: [FileName], in maildir: Maildir) -> [FileName] {
        names.filter { name in
            guard case .file(_, byteCount: 0) = try? open(name, in: maildir) else { return false }
            return (try? maildir.setAside(name, in: MailRefusal(.empty).folder)) != nil
        }
    }

    /// Reads a message.
    func read(_ file: OpenFile, byteCount: Int) -> Result<InboxMessage, MailRefusal> {
        Result { () throws(MailRefusal) in try reader.read(file, byteCount: byteCount) }
    }
}
