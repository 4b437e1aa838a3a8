internal import CoreAPI
internal import Platform
internal import StoreEngine

/// One generation of a group's journal, open in this process: its file, and the page that all processes share.
///
/// The page holds the words by which processes agree:
///
/// - the commit word: see ``CommitWord``
/// - interest: which bells somebody listens to, a bit each in four words, set by listeners before they look at the commit
///   word
/// - inherited interest: the interest of the predecessor, until its listeners were told to move
/// - the durable tail: what is known to be on the disk
/// - the reserved end: up to where the file has space
final class Journal: ValueSource {
    private enum Word {
        static let commit = JournalHeader.wordsOffset
        static let interest = commit + 64
        static let inherited = commit + 128
        static let durable = commit + 192
        static let reserved = commit + 256
    }

    /// The byte whose lock a writer holds.
    static let lockByte = 0

    let header: JournalHeader
    let file: OpenFile
    private let page: MappedPage
    private let isReadOnly: Bool

    /// Opens a journal that is there.
    init(_ file: OpenFile, isReadOnly: Bool = false) throws(SharedCoreError) {
        self.file = file
        self.isReadOnly = isReadOnly
        let start = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try file.read(count: JournalHeader.byteCount, at: 0)
        }
        guard start.count == JournalHeader.byteCount else {
            throw SharedCoreError(.corrupt, "A journal is shorter than its header.", at: file.path)
        }
        header = try JournalHeader(page: start, at: file.path)
        page = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try MappedPage(of: file, isReadOnly: isReadOnly)
        }
    }

    var generation: UInt64 { header.generation }

    var word: CommitWord {
        CommitWord(rawValue: page.load(at: Word.commit))
    }

    /// Makes what was written between the two tails part of the order, unless the journal was sealed meanwhile.
    func publish(from tail: Int, to newTail: Int) -> Bool {
        if Defect.blindPublication.isPresent {
            page.store(CommitWord(tail: newTail).rawValue, at: Word.commit)
            return true
        }
        return page.replace(CommitWord(tail: tail).rawValue, with: CommitWord(tail: newTail).rawValue, at: Word.commit)
    }

    /// Ends the journal at a tail, unless it has moved on or is sealed.
    func seal(at tail: Int) -> Bool {
        page.replace(
            CommitWord(tail: tail).rawValue, with: CommitWord(tail: tail, isSealed: true).rawValue, at: Word.commit)
    }

    /// Ends a journal of an earlier run of the machine where its records end, unless its word has changed.
    func seal(at tail: Int, from word: CommitWord) -> Bool {
        page.replace(word.rawValue, with: CommitWord(tail: tail, isSealed: true).rawValue, at: Word.commit)
    }

    /// Whether the file was cut, so that this process's page says nothing any more.
    var isPageLost: Bool { page.isLost }

    /// Refuses to go by a page that says nothing any more.
    func requirePage() throws(SystemCallError) {
        try page.requirePresence(at: file.path)
    }

    /// The size of the file.
    func byteCount() throws(SharedCoreError) -> Int {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.status().byteCount }
    }

    /// The bells that are listened to, also by those who have not come over from the predecessor yet.
    var interest: Bells {
        page.bells(at: Word.interest).union(page.bells(at: Word.inherited))
    }

    /// Tells writers to ring these bells from now on.
    func listen(to bells: Bells) {
        guard !bells.isEmpty, !isReadOnly else { return }
        page.insert(bells, at: Word.interest)
    }

    /// Forgets the inherited interest in bells that were rung.
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

    /// What is not published cannot be on the disk: such a word is damaged and says nothing.
    private func believed(_ durable: UInt64) -> Int {
        durable <= UInt64(word.tail) ? Int(durable) : 0
    }

    /// Up to where the file has space that nobody else can take.
    var reservedEnd: Int {
        get { Int(clamping: page.load(at: Word.reserved)) }
        set { page.store(UInt64(newValue), at: Word.reserved) }
    }

    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8] {
        let bytes = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try file.read(count: count, at: Int(offset))
        }
        guard bytes.count == count else {
            throw SharedCoreError(.corrupt, "A value lies beyond the end of its journal.", at: file.path)
        }
        return bytes
    }

    /// The changing words of the page of a new journal.
    static func initialWords(tail: Int, inherited: Bells, reservedEnd: Int) -> [UInt8] {
        var words = [UInt8](repeating: 0, count: JournalHeader.byteCount - JournalHeader.wordsOffset)
        func set(_ value: UInt64, at offset: Int) {
            for byte in 0..<8 {
                words[offset - JournalHeader.wordsOffset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(byte * 8))
            }
        }
        set(CommitWord(tail: tail).rawValue, at: Word.commit)
        for word in inherited.words.indices { set(inherited.words[word], at: Word.inherited + word * 8) }
        set(UInt64(reservedEnd), at: Word.reserved)
        return words
    }
}
