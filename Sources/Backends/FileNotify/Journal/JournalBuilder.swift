internal import CoreAPI
internal import Platform
internal import StoreEngine

/// Writes a new journal, and places it in the sequence when it is complete.
///
/// Until then the file has no name, so a builder that is killed leaves nothing. On a full disk it is the spare file,
/// which keeps its own name, locked, until it is complete. On a file system without unnamed files, the name ends in
/// ``nameEnding``, and the file is locked so that the file of a killed builder can be recognized and removed.
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
    /// True if the file system has no inode for another file, and no spare file reserves one.
    let hasLastInode: Bool
    private let file: OpenFile
    private let salt: UInt64
    private(set) var chain: JournalChain
    private(set) var offset = JournalHeader.byteCount
    private var reservedEnd: Int
    private var isPlaced = false
    /// True if no part of the journal counts as on the disk before the whole journal is.
    private var isAbandoned = false

    /// Creates the file of a new journal.
    ///
    /// - Parameter snapshotByteCount: About how many bytes will follow. Their space is taken at once, because on a full
    ///   disk the reserved space must be used from the start.
    /// - Parameter usesSpareSpace: Whether the reserved space is used on a full disk. Pass true only for the content that
    ///   it was measured for, and only in a process that waits until ``LocalGroup/keepSpareSpace()`` has reserved it
    ///   again. If the process ends in between, another program may take the space.
    /// - Throws: The error of a full disk also while another process has the spare file; see
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
        // This lock prevents other processes from replacing the journal by another one before it is on the disk.
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
            // Files of killed processes may take the space that the next try needs.
            directory.removeObsolete()
            // Uses the space that is reserved for a full disk.
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

    /// Creates a file with space for a number of bytes, which does not have its final name yet.
    ///
    /// - Returns: The file, and its temporary name on a file system without unnamed files: then it is locked until it
    ///   is closed.
    static func newFile(
        _ name: String, in directory: Directory, byteCount: Int
    ) throws(SystemCallError) -> (file: OpenFile, name: String?) {
        // Compactions remove them too, but a small group may not be compacted for a long time.
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

    /// Removes the files of killed builders. A file that cannot be removed now stays until the next call.
    static func removeUnfinished(in directory: Directory) {
        for name in (try? directory.names()) ?? [] where name.hasSuffix(nameEnding) {
            // A builder keeps its file locked while it lives. If the file is not locked, its builder was killed, or is
            // just about to lock it. In the second case the builder notices the removal and builds the journal again.
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
    /// - Parameter wakeChannels: The wake channels that it signals; all of them for a part of a snapshot.
    /// - Throws: `limitExceeded` for a record that readers would reject, `storageFull`.
    func append(_ payload: [UInt8], signaling wakeChannels: WakeChannels = .all) throws(SharedCoreError) {
        guard payload.count <= JournalChain.maximumPayloadByteCount else {
            throw SharedCoreError(
                .limitExceeded,
                "A record of a journal has at most \(JournalChain.maximumPayloadByteCount) bytes, this one has "
                    + "\(payload.count).",
                at: file.path)
        }
        let frame = chain.frame(payload, interest: wakeChannels.interestMask)
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

    /// Waits until everything so far is on the disk. Blocks.
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
    ///   - isAbandoned: Whether nothing in it counts as on the disk before ``settle()``, because it follows an
    ///     abandoned journal.
    ///   - isDurable: Whether it is on the disk, with its name, when this returns. Blocks then.
    /// - Returns: Whether it is the journal of its generation now; false if another process was first.
    func place(
        incarnation: UInt64, bootID: BootID, hasSnapshot: Bool, predecessorTail: Int?, inherited: WakeChannels,
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
            // The file is still locked, so no process writes behind its end.
            try file.truncate(to: neededEnd)
            // Other processes may write here from now on, however long the disk takes.
            file.unlock(byteAt: Journal.lockByte)
            if isDurable { try directory.directory.synchronizeNames() }
        } catch {
            // Another process took the file for that of a killed builder and removed it. A process that needs the
            // journal builds it again.
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

    /// The end of the journal's space. A former spare file keeps all its space until the next spare file exists:
    /// otherwise another program could take it during the sync. ``LocalGroup/keepSpareSpace()`` frees it.
    private var neededEnd: Int {
        if case .spare = origin { return reservedEnd }
        return min(reservedEnd, offset + SpareSpace.leastContentByteCount + Journal.reserveByteCount)
    }

    /// Raises the floor to the placed journal, which has a snapshot, once all of it is on the disk. Blocks.
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
