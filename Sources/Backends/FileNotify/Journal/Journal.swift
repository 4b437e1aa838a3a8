internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// One generation of a group's journal, open in this process: its file, and the page that all processes share.
///
/// The page holds the words by which processes agree:
///
/// - the commit word: see ``CommitWord``
/// - the nonce: a random number of this file, another one in each file that was ever made
/// - interest: the wake channels that have a listener, a bit each in four words, set by listeners before they read the
///   commit word
/// - inherited interest: the interest of the predecessor, until its listeners were told to move
/// - the durable tail: the end of the records known to be on the disk
/// - the reserved end: the end of the file's reserved space
/// - the spare size: the space that the spare file has at least, as long as this journal goes on
/// - the ticks: raised by a writer that is to be waited for, as long as it runs
/// - the succession: whether a process has come over from this journal to the next one, before which no commit stands
///   there; and whether the disk has that one, before which no commit there counts as on the disk
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

    /// The byte whose lock a writer holds.
    static let lockByte = 0
    /// The byte whose lock the compacting process holds.
    static let compactionLockByte = 1

    let header: JournalHeader
    let file: OpenFile
    private let page: MappedPage
    private let isReadOnly: Bool
    /// The same file past the system's cache, for one that is proved to be on the disk.
    private let disk: DiskReader?
    private let nonce: UInt64
    /// The words before those that change, which no process writes again.
    private let constantWords: [UInt64]
    /// The bytes that were read back at once when a sync had failed, with their offset.
    private let rescued = Mutex<(offset: Int, bytes: [UInt8])?>(nil)
    private let isRescued = Atomic(false)

    /// Opens a journal that is there.
    ///
    /// - Parameter disk: Reads the content of the disk in place of the system's cache; nil for an ordinary use.
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

    /// Whether the page was written over since the journal was opened, as by another journal copied in place: then its
    /// words say nothing of this journal.
    var isWrittenOver: Bool { page.load(at: Word.nonce) != nonce }

    /// Whether something was written over the header since the journal was opened, so that no process could open it
    /// now.
    var isHeaderChanged: Bool {
        !zip(Self.constantOffsets, constantWords).allSatisfy { page.load(at: $0) == $1 }
    }

    /// Whether the journal was abandoned, and can have been published up to where its word says: a word that damage has
    /// left can have the bit by chance.
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

    /// Makes the records between the two tails part of the order, unless the journal was sealed meanwhile.
    func publish(from tail: Int, to newTail: Int) -> Bool {
        if Defect.blindPublication.isPresent {
            page.store(CommitWord(tail: newTail).rawValue, at: Word.commit)
            return true
        }
        return replaceWord(at: tail) { $0.moved(to: newTail) }
    }

    /// Changes the commit word unless it is sealed or its tail is another one. A journal may be abandoned meanwhile.
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

    /// Tells all processes that the disk has lost some of the journal, and keeps in memory the part that it may lose
    /// next. Until the file is written anew, that part is only in the page cache, and counts as written there.
    func abandon() {
        page.insert(CommitWord.abandonedBit, at: Word.commit)
        let from = durableTail > 0 ? durableTail : JournalHeader.byteCount
        guard !isPageLost, let size = try? file.presence().byteCount, word.tail > from, word.tail <= size,
            let bytes = try? file.read(count: word.tail - from, at: from)
        else { return }
        rescued.withLock { $0 = $0 ?? (from, bytes) }
        isRescued.store(true, ordering: .releasing)
    }

    /// Tells all processes that the journal is on the disk, which follows an abandoned one.
    func confirm() {
        while true {
            let known = page.load(at: Word.commit)
            let confirmed = known & ~CommitWord.abandonedBit
            if known == confirmed || page.replace(known, with: confirmed, at: Word.commit) { return }
        }
    }

    /// Ends a journal of an earlier run of the machine where its records end, unless its word has changed.
    func seal(at tail: Int, from word: CommitWord) -> Bool {
        page.replace(word.rawValue, with: word.moved(to: tail).sealed.rawValue, at: Word.commit)
    }

    /// Whether the file was cut, so that this process's page is no longer valid.
    var isPageLost: Bool { page.isLost }

    /// Throws when the page is no longer valid.
    func requirePage() throws(SystemCallError) {
        try page.requirePresence(at: file.path)
    }

    /// Returns the size of the file.
    func byteCount() throws(SharedCoreError) -> Int {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.presence().byteCount }
    }

    /// The wake channels that have a listener, with the listeners that have not come over from the predecessor yet.
    var interest: Bells {
        page.bells(at: Word.interest).union(page.bells(at: Word.inherited))
    }

    /// Tells writers to signal these wake channels from now on.
    func listen(to bells: Bells) {
        guard !bells.isEmpty, !isReadOnly else { return }
        page.insert(bells, at: Word.interest)
    }

    /// Forgets the inherited interest in channels that were signalled.
    func clearInheritedInterest(in bells: Bells) {
        page.remove(bells, at: Word.inherited)
    }

    /// Up to where the journal is known to be on the disk.
    var durableTail: Int { believed(page.load(at: Word.durable)) }

    /// Remembers that the journal is on the disk up to a place.
    func raiseDurableTail(to tail: Int) {
        while true {
            let known = page.load(at: Word.durable)
            if believed(known) >= tail || page.replace(known, with: UInt64(tail), at: Word.durable) { return }
        }
    }

    /// A tail that is not published cannot be on the disk: such a word is damaged and says nothing. Nor does one of a
    /// page that was written over.
    private func believed(_ durable: UInt64) -> Int {
        durable <= UInt64(word.tail) && !isWrittenOver ? Int(durable) : 0
    }

    /// The end of the file's space that no other program can take.
    var reservedEnd: Int {
        get { Int(clamping: page.load(at: Word.reserved)) }
        set { page.store(UInt64(newValue), at: Word.reserved) }
    }

    /// The least size of the spare file. Only for the process that has that file; see ``SpareSpace``.
    var spareByteCount: Int {
        get { Int(clamping: page.load(at: Word.spare)) }
        set { page.store(UInt64(newValue), at: Word.spare) }
    }

    /// Another number each time that a writer under the lock has told that it runs.
    var ticks: UInt64 { page.load(at: Word.ticks) }

    /// The bits of the word that tells of the next journal.
    private enum Succession {
        static let isFound: UInt64 = 1
        static let isOnDisk: UInt64 = 2
    }

    /// Whether a process has found the next journal, so that something may have been committed there.
    var isSucceeded: Bool { page.load(at: Word.succession) != 0 }

    /// Whether the disk has the next journal and its name, so that the loss of power is no reason for it to be missing.
    var isSucceededOnDisk: Bool { page.load(at: Word.succession) & Succession.isOnDisk != 0 }

    /// Records that the next journal was found, before anything is committed there.
    func noteSuccessor() {
        if !isReadOnly, !isSucceeded { page.insert(Succession.isFound, at: Word.succession) }
    }

    /// Tells that the disk has the next journal, before any commit there counts as on the disk.
    func noteSuccessorOnDisk() {
        if !isReadOnly { page.insert(Succession.isFound | Succession.isOnDisk, at: Word.succession) }
    }

    /// Tells that the writer under the lock runs.
    func tick() { page.store(ticks &+ 1, at: Word.ticks) }

    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8] {
        let bytes = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try read(count: count, at: Int(offset))
        }
        guard bytes.count == count else {
            throw SharedCoreError(.corrupt, "A value lies beyond the end of its journal.", at: file.path)
        }
        return bytes
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    func read(count: Int, at offset: Int) throws(SystemCallError) -> [UInt8] {
        if let disk { return try disk.read(count: count, at: offset) }
        guard isRescued.load(ordering: .acquiring) else { return try file.read(count: count, at: offset) }
        // Also where the disk cannot be read any more.
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
    static func initialWords(tail: Int, isAbandoned: Bool, inherited: Bells, reservedEnd: Int) -> [UInt8] {
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
