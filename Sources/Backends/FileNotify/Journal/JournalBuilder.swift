internal import CoreAPI
internal import Platform
internal import StoreEngine

/// Writes a new journal, and gives it its place in the sequence when it is complete.
///
/// Until then the file has no name, so a builder that is killed leaves nothing. On a full disk it is the spare file,
/// which keeps its own name, locked, until it is complete. If the file system has no files without a name, the name
/// ends in ``nameEnding``, and the file is locked so that the file of a killed builder can be told and removed.
final class JournalBuilder {
    /// How the names of unfinished files end.
    static let nameEnding = ".new"

    /// How the file gets the journal's name.
    private enum Origin {
        case unnamed
        case named(String)
        case spare
    }

    let generation: UInt64
    private let directory: GroupDirectory
    private let origin: Origin
    /// Whether the file system has no inode for another file beside this one, and none is kept by a spare file.
    let hasLastInode: Bool
    private let file: OpenFile
    private let salt: UInt64
    private(set) var chain: JournalChain
    private(set) var offset = JournalHeader.byteCount
    private var reservedEnd: Int
    private var isPlaced = false
    /// The journal has to be on the disk before anything counts as kept there.
    private var isAbandoned = false

    /// - Parameter snapshotByteCount: About how many bytes are to follow. Their space is taken at once, because on a
    ///   full disk the space that is kept for this has to be used from the start.
    /// - Parameter usesSpareSpace: Whether the space that is kept is used on a full disk. Only for the content that it
    ///   was measured for, and by a process that waits until ``LocalGroup/keepSpareSpace()`` has kept it again: of one
    ///   that ends in between, another program may take it.
    /// - Throws: As a full disk does also while another process has the spare file; see
    ///   ``Platform/SystemCallError/isSpareInUse``.
    init(
        _ generation: UInt64, in directory: GroupDirectory, snapshotByteCount: Int = 0, usesSpareSpace: Bool = true
    ) throws(SystemCallError) {
        self.generation = generation
        self.directory = directory
        salt = UInt64.random(in: 1...UInt64.max)
        chain = JournalChain(salt: salt)
        let wanted = SpareSpace.compaction(of: snapshotByteCount)
        (file, origin, reservedEnd, hasLastInode) = try Self.space(
            wanted, for: generation, in: directory, usesSpareSpace: usesSpareSpace)
        _ = try file.tryLock(byteAt: Journal.lockByte)
        // No other process needs to write it anew while it is not on the disk.
        _ = try file.tryLock(byteAt: Journal.compactionLockByte)
    }

    private static func space(
        _ wanted: Int, for generation: UInt64, in directory: GroupDirectory, usesSpareSpace: Bool
    ) throws(SystemCallError) -> (file: OpenFile, origin: Origin, byteCount: Int, hasLastInode: Bool) {
        do throws(SystemCallError) {
            let (file, name) = try newFile(
                GroupDirectory.journalName(generation), in: directory.directory, byteCount: wanted)
            return (file, name.map(Origin.named) ?? .unnamed, wanted, isLastInode(in: directory))
        } catch {
            guard error.isStorageFull else { throw error }
            // Files left by killed processes may be in the way of the next try.
            directory.removeObsolete()
            // On a full disk there is space left that is kept for this.
            guard usesSpareSpace, let spare = try SpareSpace.take(in: directory.directory) else { throw error }
            return (spare, .spare, try spare.presence().byteCount, error.isInodeMissing)
        }
    }

    /// Returns whether there is neither a spare file nor an inode for one.
    private static func isLastInode(in directory: GroupDirectory) -> Bool {
        guard (try? directory.presence(of: SpareSpace.fileName)) == nil else { return false }
        do throws(SystemCallError) {
            let (_, name) = try newFile(SpareSpace.fileName, in: directory.directory, byteCount: 0)
            if let name { try directory.directory.remove(name) }
            return false
        } catch {
            return error.isInodeMissing
        }
    }

    /// Makes a file with space for so many bytes, which no process finds under its final name yet.
    ///
    /// - Returns: The file, and its temporary name where the file system knows no files without one: then it is locked
    ///   until it is closed.
    static func newFile(
        _ name: String, in directory: Directory, byteCount: Int
    ) throws(SystemCallError) -> (file: OpenFile, name: String?) {
        // A small group may not be compacted for long, which removes them too.
        removeUnfinished(in: directory)
        if let file = try OpenFile.unnamed(name, in: directory) {
            try file.allocate(0..<byteCount)
            return (file, nil)
        }
        let name = name + "." + String(UInt64.random(in: 0...UInt64.max), radix: 16) + nameEnding
        let file = try OpenFile(name, in: directory, .createNew)
        do throws(SystemCallError) {
            _ = try file.tryLock(byteAt: Journal.lockByte)
            try file.allocate(0..<byteCount)
        } catch {
            _ = try? directory.remove(name)
            throw error
        }
        return (file, name)
    }

    /// Removes the files of builders that were killed. A file that cannot be removed now stays for the next time.
    static func removeUnfinished(in directory: Directory) {
        for name in (try? directory.names()) ?? [] where name.hasSuffix(nameEnding) {
            // Its builder holds its lock as long as it lives. A file without a lock is one of a builder that is
            // about to take it, or was killed: the former notices and builds again.
            guard let file = try? OpenFile(name, in: directory, .write),
                (try? file.tryLock(byteAt: Journal.lockByte)) == true
            else { continue }
            _ = try? directory.remove(name)
        }
    }

    deinit {
        guard !isPlaced, case .named(let name) = origin else { return }
        _ = try? directory.directory.remove(name)
    }

    /// Adds a record.
    ///
    /// - Parameter bells: The wake channels that it signals; all of them for a part of a snapshot.
    /// - Throws: `limitExceeded` for a record that no reader would take, `storageFull`.
    func append(_ payload: [UInt8], ringing bells: Bells = .all) throws(SharedCoreError) {
        guard payload.count <= JournalChain.maximumPayloadByteCount else {
            throw SharedCoreError(
                .limitExceeded,
                "A record of a journal has at most \(JournalChain.maximumPayloadByteCount) bytes, this one has "
                    + "\(payload.count).",
                at: file.path)
        }
        let frame = chain.frame(payload, interest: bells.interestMask)
        do throws(SystemCallError) {
            let needed = offset + frame.count + Journal.reserveByteCount
            if needed > reservedEnd {
                reservedEnd = try file.allocate(
                    from: reservedEnd, to: needed, preferably: needed + SpareSpace.leastContentByteCount)
            }
            try file.write(frame, at: offset)
        } catch {
            throw SharedCoreError(error)
        }
        offset += frame.count
    }

    /// Returns when everything so far is on the disk. Blocks.
    func synchronize() throws(SharedCoreError) {
        do throws(SystemCallError) { try synchronizeContent() } catch { throw SharedCoreError(error) }
    }

    private func synchronizeContent() throws(SystemCallError) {
        if FailPoint.fails("build.synchronize") {
            throw SystemCallError("fdatasync", number: 5, at: file.path)
        }
        try file.synchronizeContent()
    }

    /// Completes the journal and gives it its name.
    ///
    /// - Parameters:
    ///   - isAbandoned: Whether nothing in it counts as kept on the disk before ``settle()``, because it follows an
    ///     abandoned journal.
    ///   - isDurable: Whether it is on the disk, with its name, when this returns. Blocks then.
    /// - Returns: Whether it is the journal of its generation now; false when another one was first.
    func place(
        incarnation: UInt64, bootID: BootID, hasSnapshot: Bool, predecessorTail: Int?, inherited: Bells,
        isAbandoned: Bool = false, isDurable: Bool
    ) throws(SharedCoreError) -> Bool {
        let header = JournalHeader(
            generation: generation, incarnation: incarnation, bootID: bootID, salt: salt, hasSnapshot: hasSnapshot,
            continuation: predecessorTail.map {
                JournalHeader.Continuation(predecessorTail: $0, offset: offset, chain: chain.value)
            })
        do throws(SystemCallError) {
            try file.write(header.bytes, at: 0)
            try file.write(
                Journal.initialWords(
                    tail: offset, isAbandoned: isAbandoned, inherited: inherited, reservedEnd: neededEnd),
                at: JournalHeader.wordsOffset)
            if isDurable { try synchronizeContent() }
            FailPoint.hit("build.beforeRename")
            guard try giveName(GroupDirectory.journalName(generation)) else { return false }
            isPlaced = true
            self.isAbandoned = isAbandoned
            FailPoint.hit("build.afterRename")
            // It is locked still: no process writes behind the end.
            try file.truncate(to: neededEnd)
            // Others write here from now on, however long the disk takes.
            file.unlock(byteAt: Journal.lockByte)
            if isDurable { try directory.directory.synchronizeNames() }
        } catch {
            // Another process took it for the file of a killed builder and removed it: a process that needs it builds
            // it again.
            if error.isAbsent { return false }
            throw SharedCoreError(error)
        }
        return try directory.keepsPlaced(generation)
    }

    private func giveName(_ name: String) throws(SystemCallError) -> Bool {
        switch origin {
        case .unnamed: try file.link(as: name, in: directory.directory)
        case .named(let present): try directory.directory.rename(present, toFree: name)
        case .spare: try directory.directory.rename(SpareSpace.fileName, toFree: name)
        }
    }

    /// Up to where the journal has space. A former spare file keeps all of its own until the next one is made:
    /// otherwise another program would take it while the disk is waited for. ``LocalGroup/keepSpareSpace()`` gives it
    /// back.
    private var neededEnd: Int {
        if case .spare = origin { return reservedEnd }
        return min(reservedEnd, offset + SpareSpace.leastContentByteCount + Journal.reserveByteCount)
    }

    /// Makes the journal that was placed, which has a snapshot, the one from which the group is to be read, once all of
    /// it is on the disk. Blocks.
    ///
    /// After an error the journal is abandoned: a later sync of it would prove nothing.
    func settle() throws(SharedCoreError) {
        do throws(SystemCallError) {
            try synchronizeContent()
            try directory.directory.synchronizeNames()
            directory.page.raiseFloor(to: generation)
            try directory.page.synchronize()
        } catch {
            if error.isFailedSync { try Journal(file).abandon() }
            throw SharedCoreError(error)
        }
        if isAbandoned { try Journal(file).confirm() }
    }
}
