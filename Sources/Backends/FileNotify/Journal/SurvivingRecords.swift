internal import CoreAPI
internal import Platform
internal import StoreEngine

/// What can be proved of a group's journals: every record that follows the one before without a gap, from a snapshot
/// on.
struct SurvivingRecords: Sendable {
    var state: StoreState
    /// Behind the last of the records.
    let position: JournalFollower.Position
    /// The commit word of the last journal, from before its records were read.
    let word: CommitWord

    /// - Parameter journal: Opens a journal by its number; nil when it is not there, or is none.
    init(
        from first: Journal, limits: Limits, journal: (UInt64) throws(SharedCoreError) -> Journal?
    ) throws(SharedCoreError) {
        var word = first.word
        var (state, position) = try JournalFollower.snapshot(
            of: first, limits: limits, historyByteCount: 0, to: try first.byteCount())
        while true {
            // Where the next journal begins, this one ends: what a writer that came too late has left behind it does
            // not count.
            let next = try journal(position.journal.generation + 1)
            let continuation = next?.header.continuation
            let end = try position.journal.byteCount()
            try JournalFollower.read(
                from: &position, to: continuation?.predecessorTail ?? end
            ) { record throws(SharedCoreError) in
                guard case .effect(let effect) = record, effect.revision > state.revision else { return false }
                state.apply(effect)
                return true
            }
            guard let next else { break }
            if let continuation {
                guard continuation.predecessorTail == position.offset else { break }
                word = next.word
                position = JournalFollower.Position(continuation, in: next)
            } else {
                // A new incarnation, which has all of it: its maker was ended before it raised the floor.
                guard word.isSealed, next.header.hasSnapshot, let begun = try Self.snapshot(of: next, limits: limits)
                else {
                    break
                }
                word = next.word
                (state, position) = begun
            }
        }
        self.state = state
        self.position = position
        self.word = word
    }

    /// What a journal begins with; nil when that is not whole.
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

    /// Ends the last journal behind the records.
    ///
    /// - Returns: False when its word has changed since: that of a living writer, whose commits are not written over.
    func seal() -> Bool { position.journal.seal(at: position.offset, from: word) }
}
