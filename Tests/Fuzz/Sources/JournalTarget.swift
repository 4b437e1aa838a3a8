internal import CoreAPI
internal import Platform
internal import StoreEngine

@testable internal import FileNotifyBackend

/// A journal's file: the header of its page, then its frames. The first byte of an input is options.
enum JournalTarget {
    private static let path = scratchPath("journal")
    private static let file = try? OpenFile(path: path, .create)

    static let seal = FrameSeal(prefixByteCount: 1, isPlain: { ($0.first ?? 0) & 3 == 0 }) { payloads in
        switch payloads.count {
        case 0: JournalHeader.magic
        case 1: header(of: payloads[0])?.salt ?? 0
        default: nil
        }
    }

    private static func header(of payload: [UInt8]) -> JournalHeader? {
        var chain = JournalChain(salt: JournalHeader.magic)
        let page = start(version: JournalHeader.layoutVersion) + chain.frame(payload, interest: .max)
        return try? JournalHeader(page: page, at: "page")
    }

    private static func start(version: UInt64) -> [UInt8] {
        var page = ByteWriter()
        page.word(JournalHeader.magic)
        page.word(version)
        return page.bytes
    }

    /// The bytes of a file of an input; nil if its first frame is larger than a page.
    private static func content(of input: [UInt8]) -> [UInt8]? {
        guard let options = input.first, input.count > 9 else { return nil }
        let length = input[1..<9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let firstByteCount = seal.headerByteCount(behind: input.prefix(1)) + Int(min(length, 1 << 20))
        guard firstByteCount <= JournalHeader.wordsOffset - 16, input.count > firstByteCount else { return nil }
        var page = start(version: 3 + UInt64(options & 3)) + input[1..<1 + firstByteCount]
        page += [UInt8](repeating: 0, count: JournalHeader.wordsOffset - page.count)
        let frames = input[(1 + firstByteCount)...]
        page += Journal.initialWords(
            tail: JournalHeader.byteCount + frames.count, isAbandoned: options & 4 != 0, inherited: .all,
            reservedEnd: 0)
        return page + frames
    }

    static func run(_ input: [UInt8]) {
        guard let file, let content = content(of: input) else { return }
        do {
            try file.truncate(to: 0)
            try file.write(content, at: 0)
            try read(file, continues: (input[0] & 8) != 0)
        } catch is SystemCallError {
            fatalError("The scratch file cannot be written.")
        } catch {}
    }

    private static func read(_ file: OpenFile, continues: Bool) throws {
        let journal = try Journal(file, isReadOnly: true, versions: JournalHeader.salvagedVersions)
        let limits = Limits()
        let header = journal.header
        if header.framing == .headed {
            let written = JournalHeader(
                generation: header.generation, incarnation: header.incarnation, bootID: header.bootID,
                salt: header.salt, hasSnapshot: header.hasSnapshot, continuation: header.continuation)
            require((try? JournalHeader(page: written.bytes, at: "page")) == header, "a header is read as another")
        }
        // Returns the same file as the next journal, once.
        func next() -> (UInt64) -> Journal? {
            var isLast = !continues
            return { _ in
                defer { isLast = true }
                return isLast ? nil : journal
            }
        }
        let damaged = try? SurvivingRecords(fromDamaged: journal, limits: limits, journal: next())
        if let damaged { try? checkSnapshot(of: damaged.state) }
        let surviving = try? SurvivingRecords(
            from: journal, limits: limits, endsAtUnreadable: true, journal: next())
        var (state, position) = try JournalFollower.snapshot(
            of: journal, limits: limits, historyByteCount: 1 << 16, effectByteCount: 1 << 16)
        require(surviving != nil, "a whole snapshot is read, but its records do not survive")
        try checkSnapshot(of: state)
        let end = journal.word.tail
        try? JournalFollower.read(from: &position, to: end) { record throws(SharedCoreError) in
            guard case .effect(let effect) = record, effect.revision > state.revision else { return false }
            state.apply(effect)
            return true
        }
        try checkSnapshot(of: state)
        if let surviving, !continues {
            require(surviving.state.revision == state.revision, "a reader and a salvage differ")
        }
    }
}

/// Requires that a snapshot of a state has the size that the state counts, and is read as the same state.
func checkSnapshot(of state: StoreState) throws {
    var payloads: [[UInt8]] = []
    try state.writeSnapshot { payload throws(SharedCoreError) in payloads.append(payload) }
    let byteCount = payloads.reduce(0) { $0 + JournalChain.headerByteCount + $1.count }
    require(byteCount == state.snapshotByteCount, "a snapshot has another size than was counted")
    var reader = SnapshotReader(limits: Limits(), historyByteCount: 0)
    var again: [[UInt8]] = []
    do {
        for payload in payloads {
            guard case .snapshot(let part) = try JournalRecord(payload[...]) else { fatalError("finding: no snapshot") }
            try reader.read(part)
        }
        try reader.result?.writeSnapshot { payload throws(SharedCoreError) in again.append(payload) }
    } catch {
        fatalError("finding: a snapshot that was written cannot be read: \(error)")
    }
    require(again == payloads, "a snapshot is read as another state")
}

/// The path of a file in memory for this process alone.
func scratchPath(_ name: String) -> String { "/dev/shm/sharedcore-fuzz-\(ProcessIdentity.current.pid)-\(name)" }
