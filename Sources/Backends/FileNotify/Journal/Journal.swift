internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// One generation of a group's journal, open in this process: its file, and the page that all processes share.
///
/// The page holds the words by which processes agree:
///
/// - the commit word: see ``CommitWord``
/// - the nonce: a random number of this file, different in each file that was ever created
/// - interest: the wake channels with a listener, one bit each in eight words, set by listeners before they read the
///   commit word
/// - inherited interest: the interest of the predecessor, until its listeners were signalled to move
/// - the durable tail: the end of the records known to be on the disk
/// - the reserved end: the end of the file's reserved space
/// - the spare size: the least space of the spare file while this journal is the present one
/// - the ticks: increased by a running writer for which others are to wait
/// - the succession, two facts. Whether a process has moved from this journal to the next one: before that, the next one
///   has no commit. Whether the disk has the next one: before that, no commit in it counts as on the disk
final class Journal: ValueSource {
    private enum Word {
        static let commit = JournalHeader.wordsOffset
        static let nonce = commit + 8
        static let interest = commit + 64
        static let inherited = commit + 128
        static let durable = commit + 192
        static let reserved = commit + 256
        static let spare = commit + 320
        static let ticks = commit + 384
        static let succession = commit + 448
    }

    /// The byte that a writer locks.
    static let lockByte = 0
    /// The byte that the compacting process locks.
    static let compactionLockByte = 1

    let header: JournalHeader
    let file: OpenFile
    private let page: MappedPage
    private let isReadOnly: Bool
    /// The same file read past the system's cache, to prove that it is on the disk.
    private let disk: DiskReader?
    private let nonce: UInt64
    /// The constant words of the page, which no process writes again.
    private let constantWords: [UInt64]
    /// The bytes that were read back into memory right after a failed sync, with their offset; nil if no sync has
    /// failed.
    private let rescued = Mutex<(offset: Int, bytes: [UInt8])?>(nil)
    private let isRescued = Atomic(false)

    /// Opens an existing journal.
    ///
    /// - Parameter disk: Reads from the disk instead of the system's cache; nil for ordinary use.
    init(
        _ file: OpenFile, isReadOnly: Bool = false, disk: DiskReader? = nil,
        versions: ClosedRange<UInt64> = JournalHeader.layoutVersion...JournalHeader.layoutVersion
    ) throws(SharedCoreError) {
        self.file = file
        self.isReadOnly = isReadOnly
        self.disk = disk
        let start = try SharedCoreError.wrapping { () throws(SystemCallError) in
            if let disk { return try disk.read(count: JournalHeader.byteCount, at: 0) }
            return try file.read(count: JournalHeader.byteCount, at: 0)
        }
        guard start.count == JournalHeader.byteCount else {
            throw SharedCoreError(.corrupt, "A journal is shorter than its header.", at: file.path)
        }
        header = try JournalHeader(page: start, versions: versions, at: file.path)
        page = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try MappedPage(of: file, isReadOnly: isReadOnly)
        }
        nonce = page.load(at: Word.nonce)
        constantWords = Self.constantOffsets.map { [page] in page.load(at: $0) }
    }

    private static let constantOffsets = stride(from: 0, to: JournalHeader.wordsOffset, by: 8)

    /// True if the page was overwritten after the journal was opened, for example by another journal copied in place.
    /// Its words are then not those of this journal.
    var isWrittenOver: Bool { page.load(at: Word.nonce) != nonce }

    /// True if the header was overwritten after the journal was opened, so that no process could open the journal now.
    var isHeaderChanged: Bool {
        !zip(Self.constantOffsets, constantWords).allSatisfy { page.load(at: $0) == $1 }
    }

    /// True if the journal was abandoned and its tail is plausible: a damaged word may have the bit by chance.
    var isPlausiblyAbandoned: Bool {
        guard word.isAbandoned, let size = try? byteCount(), size >= JournalHeader.byteCount, !isWrittenOver else {
            return false
        }
        return (JournalHeader.byteCount...size).contains(word.tail)
    }

    var generation: UInt64 { header.generation }

    var word: CommitWord {
        CommitWord(rawValue: page.load(at: Word.commit))
    }

    /// Publishes the records between the two tails, unless the journal was sealed meanwhile.
    func publish(from tail: Int, to newTail: Int) -> Bool {
        if Defect.blindPublication.isPresent {
            page.store(CommitWord(tail: newTail).rawValue, at: Word.commit)
            return true
        }
        return replaceWord(at: tail) { $0.moved(to: newTail) }
    }

    /// Changes the commit word unless it is sealed or has another tail. Retries if another process has set the bit of
    /// an abandoned journal meanwhile.
    private func replaceWord(at tail: Int, with change: (CommitWord) -> CommitWord) -> Bool {
        var known = CommitWord(tail: tail)
        while true {
            if page.replace(known.rawValue, with: change(known).rawValue, at: Word.commit) { return true }
            let found = word
            guard found != known, found.tail == tail, !found.isSealed else { return false }
            known = found
        }
    }

    /// Ends the journal at a tail, unless it has moved on or is sealed.
    func seal(at tail: Int) -> Bool {
        replaceWord(at: tail) { $0.sealed }
    }

    /// Marks the journal for all processes as partly lost by the disk, and keeps in memory the part that may be lost
    /// next. That part is only in the page cache: its pages count as clean after the failed sync, so the kernel may
    /// drop them before the group is written anew.
    func abandon() {
        page.insert(CommitWord.abandonedBit, at: Word.commit)
        let from = durableTail > 0 ? durableTail : JournalHeader.byteCount
        guard !isPageLost, let size = try? file.presence().byteCount, word.tail > from, word.tail <= size,
            let bytes = try? file.read(count: word.tail - from, at: from)
        else { return }
        rescued.withLock { $0 = $0 ?? (from, bytes) }
        isRescued.store(true, ordering: .releasing)
    }

    /// Marks the journal, which follows an abandoned one, as on the disk for all processes.
    func confirm() {
        while true {
            let known = page.load(at: Word.commit)
            let confirmed = known & ~CommitWord.abandonedBit
            if known == confirmed || page.replace(known, with: confirmed, at: Word.commit) { return }
        }
    }

    /// Seals a journal of an earlier boot of the machine at the end of its records, unless its word has changed.
    func seal(at tail: Int, from word: CommitWord) -> Bool {
        page.replace(word.rawValue, with: word.moved(to: tail).sealed.rawValue, at: Word.commit)
    }

    /// True if the file was truncated, so that this process's page is no longer valid.
    var isPageLost: Bool { page.isLost }

    /// Throws when the page is no longer valid.
    func requirePage() throws(SystemCallError) {
        try page.requirePresence(at: file.path)
    }

    /// Returns the size of the file.
    func byteCount() throws(SharedCoreError) -> Int {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.presence().byteCount }
    }

    /// The wake channels with a listener, including listeners that have not moved from the predecessor yet.
    var interest: WakeChannels {
        page.wakeChannels(at: Word.interest).union(page.wakeChannels(at: Word.inherited))
    }

    /// Makes writers signal these wake channels from now on.
    func listen(to wakeChannels: WakeChannels) {
        guard !wakeChannels.isEmpty, !isReadOnly else { return }
        page.insert(wakeChannels, at: Word.interest)
    }

    /// Forgets the inherited interest in channels that were signalled.
    func clearInheritedInterest(in wakeChannels: WakeChannels) {
        page.remove(wakeChannels, at: Word.inherited)
    }

    /// The end of the records known to be on the disk.
    var durableTail: Int { believed(page.load(at: Word.durable)) }

    /// Records that the journal is on the disk up to an offset.
    func raiseDurableTail(to tail: Int) {
        while true {
            let known = page.load(at: Word.durable)
            if believed(known) >= tail || page.replace(known, with: UInt64(tail), at: Word.durable) { return }
        }
    }

    /// Returns the durable tail, or 0 if it is beyond the published tail or the page was written over: then the word is
    /// damaged.
    private func believed(_ durable: UInt64) -> Int {
        durable <= UInt64(word.tail) && !isWrittenOver ? Int(durable) : 0
    }

    /// The end of the file's space that no other program can take.
    var reservedEnd: Int {
        get { Int(clamping: page.load(at: Word.reserved)) }
        set { page.store(UInt64(newValue), at: Word.reserved) }
    }

    /// The least size of the spare file. Only the process that holds that file may use it; see ``SpareSpace``.
    var spareByteCount: Int {
        get { Int(clamping: page.load(at: Word.spare)) }
        set { page.store(UInt64(newValue), at: Word.spare) }
    }

    /// A count that the writer under the lock increases while it runs.
    var ticks: UInt64 { page.load(at: Word.ticks) }

    /// The bits of the succession word.
    private enum Succession {
        static let isFound: UInt64 = 1
        static let isOnDisk: UInt64 = 2
    }

    /// True if a process has found the next journal, so that commits may be there.
    var isSucceeded: Bool { page.load(at: Word.succession) != 0 }

    /// True if the disk has the next journal and its name, so that a loss of power cannot explain a missing one.
    var isSucceededOnDisk: Bool { page.load(at: Word.succession) & Succession.isOnDisk != 0 }

    /// Records that the next journal was found, before anything is committed there.
    func noteSuccessor() {
        if !isReadOnly, !isSucceeded { page.insert(Succession.isFound, at: Word.succession) }
    }

    /// Records that the disk has the next journal, before any commit there counts as on the disk.
    func noteSuccessorOnDisk() {
        if !isReadOnly { page.insert(Succession.isFound | Succession.isOnDisk, at: Word.succession) }
    }

    /// Shows other processes that the writer under the lock runs.
    func tick() { page.store(ticks &+ 1, at: Word.ticks) }

    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8] {
        let bytes = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try read(count: count, at: Int(offset))
        }
        guard bytes.count == count else {
            throw SharedCoreError(.corrupt, "A value is beyond the end of its journal.", at: file.path)
        }
        return bytes
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    func read(count: Int, at offset: Int) throws(SystemCallError) -> [UInt8] {
        if let disk { return try disk.read(count: count, at: offset) }
        guard isRescued.load(ordering: .acquiring) else { return try file.read(count: count, at: offset) }
        // Use the bytes in memory, because the disk may no longer have them.
        let kept = rescued.withLock { rescued -> [UInt8]? in
            guard let rescued, offset >= rescued.offset, offset + count <= rescued.offset + rescued.bytes.count else {
                return nil
            }
            return Array(rescued.bytes[(offset - rescued.offset)..<(offset - rescued.offset + count)])
        }
        if let kept { return kept }
        var bytes = try file.read(count: count, at: offset)
        rescued.withLock { rescued in
            guard let rescued else { return }
            let range = (rescued.offset..<rescued.offset + rescued.bytes.count).clamped(
                to: offset..<offset + bytes.count)
            guard !range.isEmpty else { return }
            bytes.replaceSubrange(
                range.lowerBound - offset..<range.upperBound - offset,
                with: rescued.bytes[range.lowerBound - rescued.offset..<range.upperBound - rescued.offset])
        }
        return bytes
    }

    /// Returns the changing words of the page of a new journal.
    static func initialWords(tail: Int, isAbandoned: Bool, inherited: WakeChannels, reservedEnd: Int) -> [UInt8] {
        var words = [UInt8](repeating: 0, count: JournalHeader.byteCount - JournalHeader.wordsOffset)
        func set(_ value: UInt64, at offset: Int) {
            for byte in 0..<8 {
                words[offset - JournalHeader.wordsOffset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(byte * 8))
            }
        }
        set(CommitWord(tail: tail, isAbandoned: isAbandoned).rawValue, at: Word.commit)
        set(UInt64.random(in: 1...UInt64.max), at: Word.nonce)
        for word in inherited.words.indices { set(inherited.words[word], at: Word.inherited + word * 8) }
        set(UInt64(reservedEnd), at: Word.reserved)
        return words
    }
}
