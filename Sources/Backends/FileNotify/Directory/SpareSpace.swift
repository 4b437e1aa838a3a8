internal import Platform

/// A file that reserves the space of further journals. With it, on a full disk, processes can still continue in a new
/// journal without a frozen writer, and then free space by a compaction (contract S10, S15). If the file system has no
/// inode for another file, the spare file provides the inode of one more journal.
enum SpareSpace {
    static let fileName = "spare"
    /// The space of a journal beyond its snapshot and what is kept for endings.
    static let leastContentByteCount = 64 << 10

    /// How many bytes the records of participants and owners may add to a snapshot when there is no space left for
    /// content.
    static let coordinationByteCount = 96 << 10

    /// The step, in bytes, by which the request is reduced where the disk has less.
    static let stepByteCount = 8 << 10

    /// Returns the space of a journal with a snapshot of this size.
    static func compaction(of snapshotByteCount: Int) -> Int {
        JournalHeader.byteCount + snapshotByteCount + Journal.reserveByteCount
    }

    /// Returns the space of ``compaction(of:)``, and of one more journal without a snapshot.
    static func rollAndCompaction(of snapshotByteCount: Int) -> Int {
        compaction(of: 0) + compaction(of: snapshotByteCount)
    }

    /// Returns the space of ``rollAndCompaction(of:)``, and the space that is reserved for participants and owners: the
    /// whole reserve if the disk has that much.
    static func whole(for snapshotByteCount: Int) -> Int {
        rollAndCompaction(of: snapshotByteCount) + coordinationByteCount
    }

    /// The time to wait for another process that extends the file, for a caller that holds no lock.
    static let lockTimeout = Duration.milliseconds(20)
    /// The time to wait for another process that turns the file into the next journal.
    static let makerTimeout = Duration.seconds(1)

    /// Creates the file, or extends it to a size, unless it is that large.
    ///
    /// - Parameters:
    ///   - journal: The journal that records the size in its page; no other process changes it meanwhile.
    ///   - lockTimeout: The time to wait, blocking, for another process that has the file. Must be zero under a
    ///     journal's lock, where nothing may sleep. No lock is held during the wait: ``take(in:)`` has closed the file
    ///     again. If the other process had given the file a journal's name, the lock would be that of a journal.
    /// - Returns: The size of the file.
    /// - Throws: The error of a full disk also while another process extends the file or turns it into a journal; see
    ///   ``Platform/SystemCallError/isSpareInUse``.
    @discardableResult
    static func keep(
        _ wanted: Int, in directory: Directory, for journal: Journal? = nil, lockTimeout: Duration = .zero
    ) throws(SystemCallError) -> Int {
        let end = ContinuousClock.now.advanced(by: lockTimeout)
        while true {
            do throws(SystemCallError) {
                if let present = try take(in: directory) {
                    return try withExtendedLifetime(present) { () throws(SystemCallError) in
                        let found = try present.presence().byteCount
                        if let journal, found < journal.spareByteCount { journal.spareByteCount = found }
                        if found < wanted { try present.allocate(found..<wanted) }
                        journal?.spareByteCount = max(found, wanted)
                        return max(found, wanted)
                    }
                }
            } catch {
                guard error.isSpareInUse, ContinuousClock.now < end else { throw error }
                OwnedThread.sleep(for: .milliseconds(1))
                continue
            }
            let (file, name) = try JournalBuilder.newFile(fileName, in: directory, byteCount: wanted)
            guard let name else {
                _ = try file.tryLock(byteAt: Journal.lockByte)
                let isNamed = try withExtendedLifetime(file) { () throws(SystemCallError) in
                    guard try file.link(as: fileName, in: directory) else { return false }
                    journal?.spareByteCount = wanted
                    return true
                }
                if isNamed { return wanted }
                continue
            }
            var isNamed = false
            defer { if !isNamed { _ = try? directory.remove(name) } }
            do throws(SystemCallError) {
                isNamed = try withExtendedLifetime(file) { () throws(SystemCallError) in
                    guard try directory.rename(name, toFree: fileName) else { return false }
                    journal?.spareByteCount = wanted
                    return true
                }
            } catch {
                // Another process took the file for that of a killed builder, and removed it before it was locked.
                guard error.isAbsent else { throw error }
            }
            if isNamed { return wanted }
        }
    }

    /// Frees the file's space beyond a size. The caller must hold the journal's lock, because other processes rely on the
    /// size for their records.
    static func giveBack(
        beyond byteCount: Int, in directory: Directory, for journal: Journal
    ) throws(SystemCallError) {
        // If the journal is sealed, other processes have passed over this lock holder. Later commits rely on the size
        // of the spare file, so keep it.
        guard let present = try take(in: directory), !journal.word.isSealed else { return }
        try withExtendedLifetime(present) { () throws(SystemCallError) in
            let found = try present.presence().byteCount
            if found < journal.spareByteCount { journal.spareByteCount = found }
            guard found > byteCount else { return }
            journal.spareByteCount = byteCount
            try present.truncate(to: byteCount)
        }
    }

    /// Opens and locks the file, which belongs to the caller until it is closed.
    ///
    /// - Returns: The file; nil when there is none.
    /// - Throws: The error of a full disk also when another process has it.
    static func take(in directory: Directory) throws(SystemCallError) -> OpenFile? {
        let file: OpenFile
        do throws(SystemCallError) {
            file = try OpenFile(fileName, in: directory, .write)
        } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
        // Since the file was opened, its holder may have given it a journal's name. Then the lock taken here is the
        // lock of that journal's writers.
        let isLocked = try file.tryLock(byteAt: Journal.lockByte)
        let found = try file.presence()
        guard isLocked, (try? FilePresence(ofPath: directory.path + "/" + fileName).identity) == found.identity
        else { throw SystemCallError(lockedCall, number: SystemCallError.Number.noSpace, at: file.path) }
        // A process that was killed while it renamed the file by a link has left the file with both names. Such a file
        // is the journal.
        if found.nameCount > 1 {
            try directory.remove(fileName)
            return nil
        }
        if try lacksSpace(found, in: directory) { try fillHoles(of: file) }
        return file
    }

    /// Fills the holes of a file. On a full disk, shortens the file: the space freed at its end fills the holes before
    /// it.
    private static func fillHoles(of file: OpenFile) throws(SystemCallError) {
        while true {
            let present = try file.presence()
            do throws(SystemCallError) {
                return try file.allocate(0..<present.byteCount)
            } catch {
                guard error.isStorageFull, present.byteCount > 0 else { throw error }
                // The size decreases at each attempt, so the loop ends even if other programs take the freed space.
                let rest = min(present.allocatedByteCount, present.byteCount - 1) / stepByteCount * stepByteCount
                try file.truncate(to: rest)
            }
        }
    }

    /// Returns whether a file in a directory has holes, on a file system that can reserve their space.
    static func lacksSpace(
        _ file: FilePresence, before end: Int = .max, in directory: Directory
    ) throws(SystemCallError) -> Bool {
        guard file.hasHoles(before: end) else { return false }
        return try directory.fileSystemKind().keepsReservedSpace
    }

    /// The failed call in the error for a file that another process has.
    fileprivate static let lockedCall = "fcntl(F_OFD_SETLK)"
}

extension SystemCallError {
    /// True if another process has locked the spare file: a retry then succeeds soon.
    var isSpareInUse: Bool { call == SpareSpace.lockedCall && number == Number.noSpace }

    /// True if no other file can be created, even with free space for the existing ones.
    var isInodeMissing: Bool { isStorageFull && call.hasPrefix("openat") }
}
