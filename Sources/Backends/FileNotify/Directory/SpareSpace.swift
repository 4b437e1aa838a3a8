internal import Platform

/// The space of more journals, kept as a file of its own, so that on a full disk a frozen writer can be passed over and
/// then a compaction can free space (contract S10, S15). If the file system has no inode for another file, it is the
/// inode of one more journal.
enum SpareSpace {
    static let fileName = "spare"
    /// The space of a journal beyond its snapshot and what is kept for endings.
    static let leastContentByteCount = 64 << 10

    /// The bytes that participants and owners may add to a snapshot when there is no space for content any more.
    static let coordinationByteCount = 96 << 10

    /// The step, in bytes, by which the request is reduced where the disk has less.
    static let stepByteCount = 8 << 10

    /// Returns the space of a journal with a snapshot of this size.
    static func compaction(of snapshotByteCount: Int) -> Int {
        JournalHeader.byteCount + snapshotByteCount + Journal.reserveByteCount
    }

    /// The same, and that of a journal without a snapshot before it.
    static func rollAndCompaction(of snapshotByteCount: Int) -> Int {
        compaction(of: 0) + compaction(of: snapshotByteCount)
    }

    /// The same, and the space that content leaves to participants and owners, where the disk has that much.
    static func whole(for snapshotByteCount: Int) -> Int {
        rollAndCompaction(of: snapshotByteCount) + coordinationByteCount
    }

    /// The time that another process may have the file while it makes it longer, for a caller that holds no lock.
    static let patience = Duration.milliseconds(20)
    /// The time that another process may have the file that makes the next journal of it.
    static let makerPatience = Duration.seconds(1)

    /// Makes the file unless it is there and so large.
    ///
    /// - Parameters:
    ///   - journal: The journal whose word tells the size, which no other process changes meanwhile.
    ///   - patience: The time to wait for another process that has the file. Blocks. Zero under a journal's lock, where
    ///     nothing may sleep: then nothing does. Nor is a lock held while this sleeps: ``take(in:)`` has closed the
    ///     file again, whose lock is that of a journal when the other process has given it a journal's name.
    /// - Returns: The size that it has.
    /// - Throws: As a full disk does while another process has the file, which makes it longer or a journal of it; see
    ///   ``Platform/SystemCallError/isSpareInUse``.
    @discardableResult
    static func keep(
        _ wanted: Int, in directory: Directory, for journal: Journal? = nil, patience: Duration = .zero
    ) throws(SystemCallError) -> Int {
        let end = ContinuousClock.now.advanced(by: patience)
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
                // Another process removed the file before it was locked, as one of a killed builder.
                guard error.isAbsent else { throw error }
            }
            if isNamed { return wanted }
        }
    }

    /// Gives back the file's space beyond a size. Only for the holder of the journal's lock: the records of all others
    /// count on the size.
    static func giveBack(
        beyond byteCount: Int, in directory: Directory, for journal: Journal
    ) throws(SystemCallError) {
        // A holder that stood still and was passed over is none any more: the commits behind it count on the size.
        guard let present = try take(in: directory), !journal.word.isSealed else { return }
        try withExtendedLifetime(present) { () throws(SystemCallError) in
            let found = try present.presence().byteCount
            if found < journal.spareByteCount { journal.spareByteCount = found }
            guard found > byteCount else { return }
            journal.spareByteCount = byteCount
            try present.truncate(to: byteCount)
        }
    }

    /// Opens the file and locks it, which gives it to the caller until it is closed.
    ///
    /// - Returns: The file; nil when there is none.
    /// - Throws: As a full disk does when another process has it.
    static func take(in directory: Directory) throws(SystemCallError) -> OpenFile? {
        let file: OpenFile
        do throws(SystemCallError) {
            file = try OpenFile(fileName, in: directory, .write)
        } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
        // Its holder may have given it a journal's name since it was opened: then the lock is that of a writer.
        let isLocked = try file.tryLock(byteAt: Journal.lockByte)
        let found = try file.presence()
        guard isLocked, (try? FilePresence(ofPath: directory.path + "/" + fileName).identity) == found.identity
        else { throw SystemCallError(lockedCall, number: SystemCallError.Number.noSpace, at: file.path) }
        // If a file is moved by a link, a killed process may have left it both names: it is the journal.
        if found.nameCount > 1 {
            try directory.remove(fileName)
            return nil
        }
        if try lacksSpace(found, in: directory) { try fillHoles(of: file) }
        return file
    }

    /// Gives a file the space of its size, or on a full disk the size of its space: the space that its end gives back
    /// fills the holes before it.
    private static func fillHoles(of file: OpenFile) throws(SystemCallError) {
        while true {
            let present = try file.presence()
            do throws(SystemCallError) {
                return try file.allocate(0..<present.byteCount)
            } catch {
                guard error.isStorageFull, present.byteCount > 0 else { throw error }
                // Less each time, also where other programs take the space that it gives back.
                let rest = min(present.allocatedByteCount, present.byteCount - 1) / stepByteCount * stepByteCount
                try file.truncate(to: rest)
            }
        }
    }

    /// Returns whether a file in a directory has holes, on a file system that would keep the space of them.
    static func lacksSpace(
        _ file: FilePresence, before end: Int = .max, in directory: Directory
    ) throws(SystemCallError) -> Bool {
        guard file.hasHoles(before: end) else { return false }
        return try directory.fileSystemKind().keepsReservedSpace
    }

    /// The call that failed for the next journal, because another process has the file.
    fileprivate static let lockedCall = "fcntl(F_OFD_SETLK)"
}

extension SystemCallError {
    /// Whether another process has the spare file: then its outcome is known soon.
    var isSpareInUse: Bool { call == SpareSpace.lockedCall && number == Number.noSpace }

    /// Whether no other file can be made, even with free space for the existing ones.
    var isInodeMissing: Bool { isStorageFull && call.hasPrefix("openat") }
}
