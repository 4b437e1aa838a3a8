internal import CoreAPI
internal import Platform
internal import StoreEngine

/// Writes a new journal under a name of its own, and gives it its place in the sequence when it is complete.
///
/// While it is being built it is locked by its builder, so that what a killed one leaves can be told and removed.
final class JournalBuilder {
    /// How the names of unfinished journals end.
    static let nameEnding = ".new"

    let generation: UInt64
    private let directory: GroupDirectory
    private let name: String
    private let file: OpenFile
    private let salt: UInt64
    private(set) var chain: JournalChain
    private(set) var offset = JournalHeader.byteCount
    private var reservedEnd: Int
    private var usesSpareSpace = false
    private var isPlaced = false

    /// - Parameter snapshotByteCount: About how many bytes are to follow. Their space is taken at once, because on a full
    ///   disk the space that is kept for this has to be used from the start.
    /// - Throws: `storageFull`.
    init(
        _ generation: UInt64, in directory: GroupDirectory, snapshotByteCount: Int = 0
    ) throws(SharedCoreError) {
        self.generation = generation
        self.directory = directory
        salt = UInt64.random(in: 1...UInt64.max)
        chain = JournalChain(salt: salt)
        name = GroupDirectory.journalName(generation) + "." + String(salt, radix: 16) + Self.nameEnding
        reservedEnd = SpareSpace.compaction(of: snapshotByteCount)
        do throws(SystemCallError) {
            do throws(SystemCallError) {
                file = try Self.newFile(name, in: directory.directory, byteCount: reservedEnd)
            } catch {
                // On a full disk there is space left that is kept for this.
                guard error.isStorageFull,
                    (try? directory.directory.rename(SpareSpace.fileName, toFree: name)) == true
                else { throw error }
                usesSpareSpace = true
                file = try OpenFile(name, in: directory.directory, .write)
                reservedEnd = try file.status().byteCount
            }
            _ = try file.tryLock(byteAt: Journal.lockByte)
        } catch {
            throw SharedCoreError(error)
        }
    }

    private static func newFile(
        _ name: String, in directory: Directory, byteCount: Int
    ) throws(SystemCallError) -> OpenFile {
        let file = try OpenFile(name, in: directory, .createNew)
        do throws(SystemCallError) {
            try file.allocate(0..<byteCount)
        } catch {
            _ = try? directory.remove(name)
            throw error
        }
        return file
    }

    deinit {
        guard !isPlaced else { return }
        if usesSpareSpace, (try? directory.directory.rename(name, toFree: SpareSpace.fileName)) == true { return }
        _ = try? directory.directory.remove(name)
    }

    /// Adds a record.
    ///
    /// - Throws: `limitExceeded` for one that no reader would take, `storageFull`.
    func append(_ payload: [UInt8]) throws(SharedCoreError) {
        guard payload.count <= JournalChain.maximumPayloadByteCount else {
            throw SharedCoreError(
                .limitExceeded,
                "A record of a journal has at most \(JournalChain.maximumPayloadByteCount) bytes, this one has "
                    + "\(payload.count).",
                at: file.path)
        }
        let frame = chain.frame(payload)
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
    /// - Parameter isDurable: Whether it is on the disk, with its name, when this returns. Blocks then.
    /// - Returns: Whether it is the journal of its generation now; false when another one was first.
    func place(
        incarnation: UInt64, bootID: BootID, hasSnapshot: Bool, predecessorTail: Int?, inherited: Bells, isDurable: Bool
    ) throws(SharedCoreError) -> Bool {
        let header = JournalHeader(
            generation: generation, incarnation: incarnation, bootID: bootID, salt: salt, hasSnapshot: hasSnapshot,
            continuation: predecessorTail.map {
                JournalHeader.Continuation(predecessorTail: $0, offset: offset, chain: chain.value)
            })
        do throws(SystemCallError) {
            try giveBackSpace()
            try file.write(header.bytes, at: 0)
            try file.write(
                Journal.initialWords(tail: offset, inherited: inherited, reservedEnd: reservedEnd),
                at: JournalHeader.wordsOffset)
            if isDurable { try synchronizeContent() }
            FailPoint.hit("build.beforeRename")
            guard try directory.directory.rename(name, toFree: GroupDirectory.journalName(generation)) else {
                return false
            }
            isPlaced = true
            FailPoint.hit("build.afterRename")
            if isDurable { try directory.directory.synchronizeNames() }
        } catch {
            // Removed by somebody who took it for one that a killed builder left: whoever needs it builds it again.
            if error.isAbsent { return false }
            throw SharedCoreError(error)
        }
        return try directory.keepsPlaced(generation)
    }

    /// Cuts the file to what the journal needs. Of the space that is kept for a full disk nothing else may be used: then,
    /// with what the predecessor gives back, there is enough for the next journal.
    private func giveBackSpace() throws(SystemCallError) {
        let content = usesSpareSpace ? 0 : SpareSpace.leastContentByteCount
        let needed = offset + content + Journal.reserveByteCount
        guard needed < reservedEnd else { return }
        try file.truncate(to: needed)
        reservedEnd = needed
    }

    /// Makes the journal that was placed, which has a snapshot, the one from which the group is to be read, once all of
    /// it is on the disk. Blocks.
    func settle() throws(SharedCoreError) {
        do throws(SystemCallError) {
            try synchronizeContent()
            try directory.directory.synchronizeNames()
            directory.page.raiseFloor(to: generation)
            try directory.page.synchronize()
        } catch {
            throw SharedCoreError(error)
        }
    }
}
