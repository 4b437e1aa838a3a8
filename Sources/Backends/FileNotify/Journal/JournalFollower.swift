internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// Reads the group's journals for a replica, and keeps the replica's position in them.
///
/// `@unchecked Sendable`: every use of the changing properties takes the replica's state `inout`, which exists only
/// under the replica's lock. There is one follower for one replica.
final class JournalFollower: @unchecked Sendable {
    /// The position at which a read of the order has ended.
    enum Standing: Sendable {
        /// Everything is applied, and the journal is not sealed.
        case current
        /// Everything is applied; the journal is sealed, and no process has created its successor yet.
        case sealed
    }

    /// A place in the order's files.
    struct Position: Sendable {
        let journal: Journal
        private(set) var offset: Int
        var chain: JournalChain
        /// The offset of the word of ``chain`` in the file; nil if this process knows no frame of the journal.
        private(set) var chainOffset: Int?

        /// Makes the place of a journal's first frame.
        init(startOf journal: Journal) {
            self.init(journal, JournalHeader.byteCount, chain: journal.header.salt)
        }

        /// Makes the place at which a reader continues after it has applied the preceding journal.
        init(_ continuation: JournalHeader.Continuation, in journal: Journal) {
            self.init(journal, continuation.offset, chain: continuation.chain)
        }

        private init(_ journal: Journal, _ offset: Int, chain: UInt64) {
            self.journal = journal
            self.offset = offset
            self.chain = JournalChain(salt: chain, framing: journal.header.framing)
        }

        /// The number of bytes of records that the journal has before the place.
        var recordByteCount: Int { offset - JournalHeader.byteCount }

        /// Moves behind a frame.
        ///
        /// - Parameter payload: The range of its payload in the file.
        mutating func pass(_ payload: Range<Int>) {
            offset = payload.upperBound
            chainOffset = payload.lowerBound - FrameHeader.chainWordDistance
        }
    }

    /// The wake channels that this process listens to. It sets their bits in each journal that it moves to, before it
    /// reads the tail.
    let listening = Mutex(WakeChannels())

    private let directory: GroupDirectory
    private let limits: Limits
    private let historyByteCount: Int
    private let effectByteCount: Int
    private var position: Position {
        didSet { journal = Unmanaged.passUnretained(position.journal) }
    }
    /// The journal of ``position``, which keeps it alive. Unmanaged, because a read of its word must not pay for
    /// reference counting.
    private var journal: Unmanaged<Journal>
    /// The bytes of records behind the last snapshot.
    private var logByteCount = 0
    /// How many of the bytes of ``logByteCount`` are the space of journals that were created because a writer was
    /// frozen.
    private var passedOverByteCount = 0
    /// The bytes of the last snapshot, including the commits that were made while it was written.
    private var snapshotByteCount: Int
    /// The revisions of the snapshots passed since the history was last cut.
    private var passedSnapshots: [Revision] = []

    /// The bytes of a journal that are read at a time.
    private static let chunkByteCount = 64 << 10
    /// The number of snapshots after which the older half of the history is dropped. Changes in the history refer to
    /// values in journals, and would keep removed files open.
    private static let keptSourceCount = 8

    /// The space of a new journal behind its records.
    private static let leftByteCount = Journal.reserveByteCount + SpareSpace.leastContentByteCount

    private init(
        directory: GroupDirectory, limits: Limits, historyByteCount: Int, effectByteCount: Int, position: Position
    ) {
        self.directory = directory
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.effectByteCount = effectByteCount
        self.position = position
        self.journal = Unmanaged.passUnretained(position.journal)
        self.snapshotByteCount = position.recordByteCount
    }

    /// Reads a group from a journal with a snapshot on.
    static func load(
        _ journal: Journal, in directory: GroupDirectory, limits: Limits, historyByteCount: Int,
        effectByteCount: Int
    ) throws(SharedCoreError) -> (JournalFollower, StoreState) {
        let (state, position) = try snapshot(
            from: journal, in: directory, limits: limits, historyByteCount: historyByteCount,
            effectByteCount: effectByteCount)
        let follower = JournalFollower(
            directory: directory, limits: limits, historyByteCount: historyByteCount,
            effectByteCount: effectByteCount, position: position)
        return (follower, state)
    }

    /// Returns the position of the state in the order.
    func position(in state: inout StoreState) -> Position { position }

    /// Returns the bytes of records that a reader of the group must read beyond the last snapshot.
    func logByteCount(in state: inout StoreState) -> Int { logByteCount }

    /// Returns how many bytes of the log are the space of journals that were created because a writer was frozen.
    func passedOverByteCount(in state: inout StoreState) -> Int { passedOverByteCount }

    /// Returns the number of bytes of records that a compaction would free.
    func garbageByteCount(in state: inout StoreState) -> Int {
        snapshotByteCount + logByteCount - state.snapshotByteCount
    }

    /// Returns whether the state reflects every commit up to this moment: one load from the shared page.
    func isCurrent(in state: inout StoreState) -> Bool {
        journal._withUnsafeGuaranteedRef { $0.word.rawValue } == UInt64(position.offset) || Defect.cachedTail.isPresent
    }

    /// Applies everything that is published.
    func catchUp(_ state: inout StoreState) throws(SharedCoreError) -> Standing {
        while true {
            do throws(SharedCoreError) {
                let word = position.journal.word
                // The published tail never moves back. A lower one shows that the file was cut or written over.
                guard word.tail >= position.offset else { throw .cut(position.journal.file.path) }
                try apply(to: word.tail, &state)
                guard word.isSealed else { return .current }
                guard let next = try directory.successor(of: position.journal) else { return .sealed }
                try enter(next, &state)
            } catch {
                try begin(at: Self.floor(instead: position.journal, in: directory, error), &state)
            }
        }
    }

    /// Applies the record that this process has just published itself, unless another thread has done so already.
    func advance(
        from before: Position, to after: Position, applying effect: Effect, _ state: inout StoreState
    ) throws(SharedCoreError) {
        guard position.journal === before.journal, position.offset == before.offset else {
            _ = try catchUp(&state)
            return
        }
        state.apply(effect)
        logByteCount += after.offset - position.offset
        position = after
    }

    // MARK: - Reading

    private func apply(to tail: Int, _ state: inout StoreState) throws(SharedCoreError) {
        guard position.offset < tail else { return }
        var place = position
        // Note the position after each applied record, even if a later record cannot be read.
        defer {
            logByteCount += place.offset - position.offset
            position = place
        }
        try Self.read(from: &place, to: tail) { record throws(SharedCoreError) in
            guard case .effect(let effect) = record, effect.revision > state.revision else {
                throw SharedCoreError(
                    .corrupt, "A record of the journal is out of order.", at: directory.directory.path)
            }
            state.apply(effect)
            return true
        }
        guard place.offset == tail else { throw Self.damaged(place.journal, at: place.offset) }
    }

    /// Moves to the next journal.
    private func enter(_ journal: Journal, _ state: inout StoreState) throws(SharedCoreError) {
        let old = position
        if let continuation = journal.header.continuation, journal.generation == old.journal.generation + 1 {
            guard continuation.predecessorTail == old.offset else {
                throw SharedCoreError(
                    .corrupt, "A journal does not begin at the place where its predecessor ends.",
                    at: journal.file.path)
            }
            position = Position(continuation, in: journal)
            if journal.header.hasSnapshot {
                (logByteCount, passedOverByteCount) = (0, 0)
                snapshotByteCount = position.recordByteCount
                // Large values are in the preceding journals, which are removed.
                passedSnapshots.append(state.revision)
                if state.hasExternalValues { try lookUpValuesAgain(&state) }
            } else {
                // A journal that was created because a writer was frozen counts as if it were full, and so does the
                // unused space of the one before it. Otherwise many small journals would not lead to a compaction.
                let left = ((try? old.journal.byteCount()) ?? 0) - old.offset
                let byteCount = JournalHeader.byteCount + max(left, Self.leftByteCount)
                logByteCount += byteCount
                passedOverByteCount += byteCount
            }
        } else {
            return try begin(at: journal, &state)
        }
        listen(in: journal)
    }

    /// Moves to a journal with a snapshot, past all journals in between.
    private func begin(at journal: Journal, _ state: inout StoreState) throws(SharedCoreError) {
        (state, position) = try Self.snapshot(
            from: journal, in: directory, limits: limits, historyByteCount: historyByteCount,
            effectByteCount: effectByteCount)
        (logByteCount, passedOverByteCount) = (0, 0)
        snapshotByteCount = position.recordByteCount
        passedSnapshots = []
        listen(in: position.journal)
    }

    /// Sets the interest in the new journal. Must precede the read of its tail, so that a later commit wakes this
    /// process.
    private func listen(in journal: Journal) {
        journal.listen(to: listening.withLock { $0 })
    }

    /// Replaces the state's content by that of the snapshot in the present journal, at the same place in the order.
    private func lookUpValuesAgain(_ state: inout StoreState) throws(SharedCoreError) {
        var (other, from) = try Self.snapshot(
            of: position.journal, limits: limits, historyByteCount: historyByteCount)
        try Self.read(from: &from, to: position.offset) { record throws(SharedCoreError) in
            if case .effect(let effect) = record { other.apply(effect) }
            return true
        }
        guard from.offset == position.offset, other.revision == state.revision else {
            throw Self.damaged(position.journal, at: from.offset)
        }
        var forgotten = Revision.zero
        if passedSnapshots.count > Self.keptSourceCount {
            let half = passedSnapshots.count / 2
            forgotten = passedSnapshots[half]
            passedSnapshots.removeFirst(half)
        }
        state.adoptContent(of: other, forgettingThrough: forgotten)
    }

    /// Returns the journal to continue from instead of one that could not be read because it fell below the floor and
    /// has freed its space.
    ///
    /// - Throws: `error` if the journal is damaged otherwise.
    private static func floor(
        instead journal: Journal, in directory: GroupDirectory, _ error: SharedCoreError
    ) throws(SharedCoreError) -> Journal {
        guard error.code == .corrupt, directory.page.floor > journal.generation,
            let floor = try directory.floorJournal()
        else { throw error }
        return floor
    }

    /// Returns the state of the snapshot of a journal, or of the newest one if that journal is removed meanwhile.
    private static func snapshot(
        from journal: Journal, in directory: GroupDirectory, limits: Limits, historyByteCount: Int, effectByteCount: Int
    ) throws(SharedCoreError) -> (StoreState, Position) {
        var journal = journal
        while true {
            do throws(SharedCoreError) {
                return try snapshot(
                    of: journal, limits: limits, historyByteCount: historyByteCount, effectByteCount: effectByteCount)
            } catch {
                journal = try floor(instead: journal, in: directory, error)
            }
        }
    }

    /// Returns the state of a journal's snapshot, and the place behind it.
    ///
    /// - Parameter end: The end of the range to read; nil for the published tail.
    static func snapshot(
        of journal: Journal, limits: Limits, historyByteCount: Int, effectByteCount: Int = 0,
        to end: Int? = nil
    ) throws(SharedCoreError) -> (StoreState, Position) {
        var position = Position(startOf: journal)
        var reader = SnapshotReader(
            limits: limits, historyByteCount: historyByteCount, effectByteCount: effectByteCount)
        try read(from: &position, to: end ?? journal.word.tail) { record throws(SharedCoreError) in
            guard case .snapshot(let part) = record else { throw damaged(journal, at: JournalHeader.byteCount) }
            try reader.read(part)
            return reader.result == nil
        }
        guard let state = reader.result else { throw damaged(journal, at: position.offset) }
        return (state, position)
    }

    /// Reads records from a position on, and moves the position behind each. Ends when `take` returns false, at `end`,
    /// or where the next bytes are no frame of the chain.
    static func read(
        from position: inout Position, to end: Int, _ take: (JournalRecord) throws(SharedCoreError) -> Bool
    ) throws(SharedCoreError) {
        var wanted = chunkByteCount
        while position.offset < end {
            let start = position.offset
            let journal = position.journal
            let count = min(wanted, end - start)
            let bytes = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try journal.read(count: count, at: start)
            }
            wanted = chunkByteCount
            frames: while position.offset - start < bytes.count {
                var chain = position.chain
                let rest = bytes[(position.offset - start)...]
                switch Defect.ignoredChecksum.isPresent ? chain.believe(rest) : chain.read(rest) {
                case .frame(let range):
                    let external = ExternalValues(source: journal, offset: UInt64(start + range.lowerBound))
                    let goesOn = try take(JournalRecord(bytes[range], external: external))
                    position.pass(start + range.lowerBound..<start + range.upperBound)
                    position.chain = chain
                    if !goesOn { return }
                case .incomplete(let byteCount):
                    guard byteCount <= end - position.offset else { return }
                    wanted = max(byteCount, chunkByteCount)
                    break frames
                case .damaged:
                    return
                }
            }
            // The file ends before `end`.
            if bytes.count < count { return }
        }
    }

    static func damaged(_ journal: Journal, at offset: Int) -> SharedCoreError {
        SharedCoreError(
            .corrupt,
            "The journal is damaged at byte \(offset), before its published end. When no process has the group open, "
                + "“sharedcore salvage DIRECTORY --into NEW” writes what can be proven of it as a backup, for “restore”.",
            at: journal.file.path)
    }
}

/// The defect `ignoredChecksum`: a reader that accepts any bytes as a record.
extension JournalChain {
    /// Reads the frame at the front of `bytes` as ``read(_:)`` does, and accepts a changed one too.
    mutating func believe(_ bytes: ArraySlice<UInt8>) -> Reading {
        let reading = read(bytes)
        #if FAIL_POINTS
            guard case .damaged = reading else { return reading }
            let length = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            let payload = bytes.dropFirst(Self.headerByteCount).prefix(length)
            guard payload.count == length else { return reading }
            // The next frame continues from this chain word.
            let chainWord = bytes.dropFirst(Self.headerByteCount - 8).prefix(8).reversed().reduce(0) {
                $0 << 8 | UInt64($1)
            }
            self = JournalChain(salt: chainWord)
            return .frame(payload.startIndex..<payload.endIndex)
        #else
            return reading
        #endif
    }
}
