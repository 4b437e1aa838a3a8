internal import CoreAPI
internal import Platform
internal import StoreEngine

@testable internal import FileNotifyBackend

/// A follower of the journals in a directory, while a writer appends records, continues in further journals, compacts
/// and restarts, and while files are damaged. An input is steps: see ``Step``.
enum FollowerTarget {
    static let shape = LengthShape(prefixByteCount: 0)

    /// The next act of the writer. The rest of the part is its argument.
    enum Step: UInt8 {
        /// Appends an effect with the next revision; other bytes are appended as they are.
        case effect
        /// Appends bytes as the payload of a frame.
        case payload
        /// Puts a value that is the argument many times over, so that it may stay in its journal.
        case put
        /// Seals the journal and continues in the next one, without a snapshot.
        case roll
        /// Seals the journal and continues behind a snapshot; an odd argument removes the journals before it.
        case compact
        /// Seals the journal and begins a new incarnation with a snapshot, as after a restart of the machine.
        case restart
        /// Seals the journal.
        case seal
        /// Writes bytes over those of the journal, behind its page.
        case damage
        /// Moves the published end back to that of an earlier record.
        case cut
        /// Places a journal with the argument as the payload of its header.
        case header
        /// Removes the name of the journal.
        case remove
        /// Raises the floor.
        case floor
        /// Cuts the file, behind its page.
        case truncate
        /// Replaces the words of the journal's page.
        case words
        /// Reads what was written since.
        case follow
        /// Reads it, and begins a follower anew.
        case begin
    }

    private static let path = scratchPath("group")

    static func run(_ input: [UInt8]) {
        Directory.removeWithFiles(path: path)
        guard (try? Directory.create(path: path, permissions: 0o700)) != nil,
            var writer = try? GroupWriter(path: path)
        else { fatalError("The scratch directory cannot be written.") }
        do {
            for part in shape.parts(of: input).parts.prefix(64) where !writer.isOver {
                guard let step = Step(rawValue: part[0]) else { continue }
                try writer.perform(step, Array(part.dropFirst()))
            }
            if !writer.isOver { try writer.follow() }
        } catch {
            require(!writer.isWhole, "a whole group cannot be written: \(error)")
        }
    }
}

/// The writer of a group, with one follower.
private struct GroupWriter {
    private let directory: GroupDirectory
    private var journal: Journal
    private var chain: JournalChain
    private var tail: Int
    /// The ends of the records of the journal.
    private var ends: [Int]
    private var revision: Revision
    private var incarnation: UInt64 = 1
    private var follower: JournalFollower
    private var state: StoreState
    /// True while each byte in the directory was written as the product writes it.
    private(set) var isWhole = true
    private(set) var isOver = false

    private static let historyByteCount = 1 << 16
    private static let bootID = BootID(high: 7, low: 9)

    init(path: String) throws {
        directory = try GroupDirectory(path: path)
        let empty = StoreState(historyByteCount: 0)
        (journal, chain, tail) = try Self.place(1, in: directory, incarnation: 1, after: nil, snapshot: empty)
        ends = [tail]
        revision = empty.revision
        (follower, state) = try Self.load(directory)
    }

    /// Places a journal. With a snapshot, the group is read from it.
    private static func place(
        _ generation: UInt64, in directory: GroupDirectory, incarnation: UInt64, after predecessorTail: Int?,
        snapshot: StoreState?
    ) throws -> (Journal, JournalChain, Int) {
        let builder = try JournalBuilder(generation, in: directory, snapshotByteCount: snapshot?.snapshotByteCount ?? 0)
        try snapshot?.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        let isPlaced = try builder.place(
            incarnation: incarnation, bootID: bootID, hasSnapshot: snapshot != nil, predecessorTail: predecessorTail,
            inherited: .all, isDurable: false)
        guard isPlaced, let journal = try directory.journal(generation) else {
            throw SharedCoreError(.corrupt, "The name of the next journal is taken.", at: directory.directory.path)
        }
        if snapshot != nil { try builder.settle() }
        return (journal, builder.chain, builder.offset)
    }

    private static func load(_ directory: GroupDirectory) throws -> (JournalFollower, StoreState) {
        guard let floor = try directory.floorJournal() else { fatalError("finding: a group has no journal") }
        return try JournalFollower.load(
            floor, in: directory, limits: Limits(), historyByteCount: historyByteCount,
            effectByteCount: historyByteCount)
    }

    mutating func perform(_ step: FollowerTarget.Step, _ argument: [UInt8]) throws {
        switch step {
        case .effect:
            guard case .effect(let effect)? = try? JournalRecord(argument[...]) else { return try append(argument) }
            try append(effect.body, delivery: effect.delivery)
        case .payload: try append(argument)
        case .put:
            let value = Array(repeatElement(argument.prefix(16), count: 1 + Int(argument.first ?? 0) * 8).joined())
            let key = try Key("k\((argument.last ?? 0) & 7)")
            try append(
                .committed(SessionID(rawValue: 1), requestNumber: nil, [.put(key, .inline(value), .persistent)]),
                delivery: nil)
        case .roll: try move(snapshot: nil, continues: true)
        case .compact:
            guard let state = readAnew() else { return }
            try move(snapshot: state, continues: true)
            if (argument.first ?? 0) & 1 == 1 { directory.removeObsolete() }
        case .restart:
            guard let state = readAnew() else { return }
            incarnation += 1
            try move(snapshot: state, continues: false)
        case .seal: _ = journal.seal(at: tail)
        case .damage:
            guard argument.count > 2 else { return }
            isWhole = false
            let offset = JournalHeader.byteCount + Int(argument[0]) * 8 + Int(argument[1]) * 1024
            try journal.file.write(Array(argument.dropFirst(2)), at: offset)
        case .cut:
            guard !ends.isEmpty else { return }
            let end = ends[Int(argument.first ?? 0) % ends.count]
            guard end < tail, isWhole else { return }
            isWhole = false
            try write(CommitWord(tail: end, isSealed: journal.word.isSealed))
            let position = follower.position(in: &state)
            if position.journal.generation == journal.generation, position.offset > end {
                require((try? follower.catchUp(&state)) == nil, "an end that moved back is not noticed")
            }
            isOver = true
        case .header: try placeHeader(argument)
        case .remove:
            isWhole = false
            _ = try directory.directory.remove(GroupDirectory.journalName(journal.generation))
        case .floor:
            isWhole = false
            directory.page.raiseFloor(to: number(argument))
        case .truncate:
            isWhole = false
            let size = try journal.byteCount()
            try journal.file.truncate(to: min(size, JournalHeader.byteCount + Int(number(argument.prefix(2)))))
        case .words:
            isWhole = false
            try journal.file.write(Array(argument.prefix(512)), at: JournalHeader.wordsOffset)
        case .follow: try follow()
        case .begin:
            try follow()
            if let begun = try? Self.load(directory) { (follower, state) = begun }
        }
    }

    private func number(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func write(_ word: CommitWord) throws {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word.rawValue >> UInt64($0 * 8)) }
        try journal.file.write(bytes, at: JournalHeader.wordsOffset)
    }

    private mutating func append(_ body: Effect.Body, delivery: UInt64?) throws {
        guard !journal.word.isSealed else { return }
        let next = Revision(rawValue: revision.rawValue + 1)
        let effect = Effect(revision: next, time: BootInstant(nanoseconds: 10), body: body, delivery: delivery)
        try publish(effect.payload())
        revision = next
    }

    private mutating func append(_ payload: [UInt8]) throws {
        guard !journal.word.isSealed else { return }
        isWhole = false
        try publish(payload)
    }

    private mutating func publish(_ payload: [UInt8]) throws {
        let frame = chain.frame(payload, interest: .max)
        try journal.file.write(frame, at: tail)
        _ = journal.publish(from: tail, to: tail + frame.count)
        tail += frame.count
        ends.append(tail)
    }

    private mutating func move(snapshot: StoreState?, continues: Bool) throws {
        if !journal.word.isSealed { _ = journal.seal(at: tail) }
        (journal, chain, tail) = try Self.place(
            journal.generation + 1, in: directory, incarnation: incarnation, after: continues ? tail : nil,
            snapshot: snapshot)
        ends = [tail]
    }

    private mutating func placeHeader(_ payload: [UInt8]) throws {
        isWhole = false
        var page = ByteWriter()
        page.word(JournalHeader.magic)
        page.word(JournalHeader.layoutVersion)
        var sealing = JournalChain(salt: JournalHeader.magic)
        var bytes = page.bytes + sealing.frame(payload, interest: .max)
        guard bytes.count <= JournalHeader.wordsOffset else { return }
        bytes += [UInt8](repeating: 0, count: JournalHeader.wordsOffset - bytes.count)
        bytes += Journal.initialWords(
            tail: JournalHeader.byteCount, isAbandoned: false, inherited: .all, reservedEnd: 0)
        if !journal.word.isSealed { _ = journal.seal(at: tail) }
        let name = GroupDirectory.journalName(journal.generation + 1)
        let file = try OpenFile(path: directory.directory.path + "/" + name, .create)
        try file.write(bytes, at: 0)
        journal = try Journal(file)
        (chain, tail) = (JournalChain(salt: journal.header.salt), JournalHeader.byteCount)
        ends = []
    }

    /// Returns the state of a reader that begins at the floor; nil if the directory is damaged.
    private func readAnew() -> StoreState? {
        do {
            var (other, anew) = try Self.load(directory)
            _ = try other.catchUp(&anew)
            return anew
        } catch {
            require(!isWhole, "a whole group cannot be read: \(error)")
            return nil
        }
    }

    /// Follows the writer, and compares the state with that of a reader that begins at the floor.
    mutating func follow() throws {
        let standing: JournalFollower.Standing
        do {
            standing = try follower.catchUp(&state)
        } catch {
            require(!isWhole, "a whole group cannot be followed: \(error)")
            isOver = true
            return
        }
        guard isWhole, let anew = readAnew() else { return }
        require(state.revision == revision, "a follower ends before the last record")
        require((standing == .sealed) == journal.word.isSealed, "a follower takes an open journal for a sealed one")
        require(try payloads(of: state) == payloads(of: anew), "a follower and a reader from the floor differ")
        _ = follower.garbageByteCount(in: &state)
        _ = follower.passedOverByteCount(in: &state)
    }

    private func payloads(of state: StoreState) throws -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        do {
            try state.writeSnapshot { payload throws(SharedCoreError) in payloads.append(payload) }
        } catch {
            fatalError("finding: a value of the state cannot be read: \(error)")
        }
        return payloads
    }
}
