internal import CoreAPI
internal import Platform
internal import StoreEngine

/// The records of a group's journals that can be proved: every record that follows the one before without a gap, from a
/// snapshot on.
struct SurvivingRecords: Sendable {
    var state: StoreState
    /// The position behind the last of the records.
    let position: JournalFollower.Position
    /// The commit word of the last journal, from before its records were read.
    let word: CommitWord
    /// The bytes of the first journal in which its snapshot is damaged.
    let damage: [Range<Int>]
    /// The number of journals with these records, and the bytes of the records in them.
    let journalCount: Int
    let byteCount: Int

    /// Reads the records from a journal with a whole snapshot on, through all journals that continue it.
    ///
    /// - Parameters:
    ///   - endsAtUnreadable: Whether a record with a valid checksum that this program cannot read ends the records, as a
    ///     damaged one does. Pass true only for a salvage: a group that is opened this way would continue without the
    ///     commits behind that record.
    ///   - journal: Opens a journal by its number; returns nil if it is missing or not a journal.
    init(
        from first: Journal, limits: Limits, endsAtUnreadable: Bool = false,
        journal: (UInt64) throws(SharedCoreError) -> Journal?
    ) throws(SharedCoreError) {
        let word = first.word
        let (state, position) = try JournalFollower.snapshot(
            of: first, limits: limits, historyByteCount: 0, to: try first.byteCount())
        try self.init(
            state, behind: position, word: word, damage: [], limits: limits, endsAtUnreadable: endsAtUnreadable,
            journal: journal)
    }

    /// Reads the records from a journal with a damaged snapshot on. Of the snapshot it takes the records that are
    /// proved one by one.
    ///
    /// - Throws: `corrupt` when no record is whole.
    init(
        fromDamaged first: Journal, limits: Limits, journal: (UInt64) throws(SharedCoreError) -> Journal?
    ) throws(SharedCoreError) {
        let word = first.word
        let snapshot = try DamagedSnapshot(of: first, limits: limits)
        try self.init(
            snapshot.state, behind: snapshot.position, word: word, damage: snapshot.damage, limits: limits,
            endsAtUnreadable: true, journal: journal)
        guard state.revision > .zero else {
            throw SharedCoreError(.corrupt, "No record of the journal is whole.", at: first.file.path)
        }
        state.removeOrphans()
    }

    private init(
        _ first: StoreState, behind start: JournalFollower.Position, word firstWord: CommitWord, damage: [Range<Int>],
        limits: Limits, endsAtUnreadable: Bool, journal: (UInt64) throws(SharedCoreError) -> Journal?
    ) throws(SharedCoreError) {
        var (state, position, word) = (first, start, firstWord)
        var (journalCount, byteCount) = (1, 0)
        while true {
            // The next journal states where this one ends. Records behind that end were written by a writer that was
            // passed over, and do not count.
            let next = try journal(position.journal.generation + 1)
            let continuation = next?.header.continuation
            let end = try position.journal.byteCount()
            do throws(SharedCoreError) {
                try JournalFollower.read(
                    from: &position, to: continuation?.predecessorTail ?? end
                ) { record throws(SharedCoreError) in
                    guard case .effect(let effect) = record, effect.revision > state.revision else { return false }
                    state.apply(effect)
                    return true
                }
            } catch {
                guard endsAtUnreadable, error.code == .corrupt else { throw error }
            }
            guard let next else { break }
            let passedByteCount = position.recordByteCount
            if let continuation {
                guard continuation.predecessorTail == position.offset else { break }
                word = next.word
                position = JournalFollower.Position(continuation, in: next)
            } else {
                // The next journal begins a new incarnation with the whole content. The process that created it ended
                // before it raised the floor.
                guard word.isSealed, next.header.hasSnapshot, let begun = try Self.snapshot(of: next, limits: limits)
                else {
                    break
                }
                word = next.word
                (state, position) = begun
            }
            journalCount += 1
            byteCount += passedByteCount
        }
        self.state = state
        self.position = position
        self.word = word
        self.damage = damage
        self.journalCount = journalCount
        self.byteCount = byteCount + position.recordByteCount
    }

    /// Returns the state at the beginning of a journal; nil when its snapshot is not whole.
    private static func snapshot(
        of journal: Journal, limits: Limits
    ) throws(SharedCoreError) -> (StoreState, JournalFollower.Position)? {
        do throws(SharedCoreError) {
            return try JournalFollower.snapshot(
                of: journal, limits: limits, historyByteCount: 0, to: try journal.byteCount())
        } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
    }

    /// The incarnation of the last journal.
    var incarnation: UInt64 { position.journal.header.incarnation }

    /// Seals the last journal at the end of the records.
    ///
    /// - Returns: False if its word has changed since: a running writer's commits must not be overwritten.
    func seal() -> Bool { position.journal.seal(at: position.offset, from: word) }
}

/// The records of a damaged snapshot that are proved one by one.
///
/// A record with a damaged payload is skipped by means of its header, which has a checksum of its own. Behind a damaged
/// header, only records written since the snapshot can be found, and only in a journal that continues another one: its
/// first page has their offset. A search for the next header could find one in a value.
private struct DamagedSnapshot {
    private(set) var position: JournalFollower.Position
    private(set) var damage: [Range<Int>] = []
    private var reader: SnapshotReader

    var state: StoreState { reader.survivingState }

    init(of journal: Journal, limits: Limits) throws(SharedCoreError) {
        position = JournalFollower.Position(startOf: journal)
        reader = SnapshotReader(limits: limits, historyByteCount: 0)
        let size = try journal.byteCount()
        let continuation = journal.header.continuation.flatMap { $0.offset <= size ? $0 : nil }
        let end = continuation?.offset ?? size
        while try readRecords(to: end) {
            let start = position.offset
            if try passRecord(before: end) {
                damage.append(start..<position.offset)
            } else if let continuation {
                position = JournalFollower.Position(continuation, in: journal)
                damage.append(start..<position.offset)
            } else {
                break
            }
        }
    }

    /// Reads records up to the end of the snapshot, or the first one that is damaged.
    ///
    /// - Returns: Whether one is damaged.
    private mutating func readRecords(to end: Int) throws(SharedCoreError) -> Bool {
        // A copy, because `self` is changed during the read.
        var position = position
        let file = position.journal.file
        var isOver = false
        do throws(SharedCoreError) {
            try JournalFollower.read(from: &position, to: end) { record throws(SharedCoreError) in
                guard case .snapshot(let part) = record else {
                    isOver = true
                    // Do not skip this record: it is the first one that was written after the snapshot.
                    throw SharedCoreError(.corrupt, "The snapshot has no end.", at: file.path)
                }
                try reader.readSurviving(part)
                isOver = reader.result != nil
                return !isOver
            }
        } catch {
            guard error.code == .corrupt else { throw error }
        }
        self.position = position
        return !isOver && position.offset < end
    }

    /// Skips a record by means of its header.
    private mutating func passRecord(before end: Int) throws(SharedCoreError) -> Bool {
        let start = position.offset
        let journal = position.journal
        let header = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try journal.read(count: JournalChain.headerByteCount, at: start)
        }
        var chain = position.chain
        guard let payload = chain.passHeader(header[...]), start + payload.upperBound <= end else { return false }
        position.pass(start + payload.lowerBound..<start + payload.upperBound)
        position.chain = chain
        return true
    }
}
