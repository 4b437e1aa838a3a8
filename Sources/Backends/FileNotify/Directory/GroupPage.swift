internal import CoreAPI
internal import Platform
internal import Replica
internal import Synchronization

/// The first page of the file `sessions`, which lives as long as the group: the version of the layout, and the number
/// of the journal from which the group is to be read. For processes that cannot watch the wake channels, it also has a
/// futex word for each wake channel and one for the group (decisions 10 and 47).
///
/// The rest of the file is never written. Its bytes are the ones that participants lock; see ``SessionLocks``.
final class GroupPage: Sendable {
    static let fileName = "sessions"

    private enum Word {
        static let magic = 0
        static let version = 8
        static let floor = 64
        /// The offset of the futex word of the group.
        static let signal = 128
        static let signalInterest = 192
        /// The offset of the interest mask of the threads that wait at the futex words of channels.
        static let channelInterest = 256
        static let channels = 2048

        static func channel(_ index: Int) -> Int { channels + index * 4 }
    }

    /// The futex words at which a thread sleeps.
    enum Sleepers {
        /// The words of its wake channels.
        case atChannels
        /// The one word of the group. Several channels share a bit of its mask, so a thread may be woken for a channel that
        /// is not its own.
        case atGroup
    }

    /// The values of the futex words that a thread has read before it sleeps.
    enum Seen {
        case channels([(offset: Int, value: UInt32)])
        case group(UInt32)
    }

    private static let magic: UInt64 = 0x3150_5247_4353_4853

    /// The identity of the file.
    let identity: FileStatus.Identity
    private let file: OpenFile
    private let page: MappedPage
    /// The highest floor that ``damage`` has seen.
    private let highestFloor = Atomic<UInt64>(0)

    /// Opens the page of a group. Creates a missing one if `access` allows it; if there are journals, see
    /// ``FloorRecovery``.
    init(in directory: Directory, access: FileGroupOptions.Access) throws(SharedCoreError) {
        file = access == .readOnly ? try Self.openToRead(in: directory) : try Self.open(in: directory)
        do throws(SystemCallError) {
            let status = try file.status()
            guard status.byteCount >= MappedPage.byteCount else {
                throw SystemCallError("read", number: 0, at: file.path)
            }
            identity = status.identity
            page = try MappedPage(of: file, isReadOnly: access == .readOnly)
        } catch {
            throw error.number == 0
                ? Self.damaged("The file is shorter than its first page.", at: error.location)
                : SharedCoreError(error)
        }
        guard page.load(at: Word.magic) == Self.magic else {
            throw Self.damaged("This is not the first page of a group.", at: file.path)
        }
        let version = page.load(at: Word.version)
        guard version == JournalHeader.layoutVersion else {
            throw .layout(version, known: JournalHeader.layoutVersion, at: file.path)
        }
    }

    /// Returns the number of the journal from which a group is to be read, by the first page of its file, of any
    /// version that can be salvaged; nil for anything else.
    static func floor(ofPage page: [UInt8]) -> UInt64? {
        var reader = ByteReader(page)
        guard page.count == MappedPage.byteCount, (try? reader.word()) == magic, let version = try? reader.word(),
            JournalHeader.salvagedVersions.contains(version)
        else { return nil }
        var rest = ByteReader(page[Word.floor...])
        return try? rest.word()
    }

    static func damaged(_ problem: String, at path: String) -> SharedCoreError {
        SharedCoreError(
            .corrupt,
            "\(problem) When no process has the group open, remove the file: it is made again from the journals.",
            at: path)
    }

    /// True if the file was truncated, so that this process's page is no longer valid.
    var isLost: Bool { page.isLost }

    /// Returns the error for a page over which something was written since it was opened, such as a copy in place; nil
    /// when the page is intact.
    ///
    /// - Parameter journal: A journal that this process reads. The floor rises above it only after it is sealed.
    func damage(reading journal: Journal) -> SharedCoreError? {
        let highest = highestFloor.load(ordering: .acquiring)
        let floor = floor
        guard page.load(at: Word.magic) == Self.magic, page.load(at: Word.version) == JournalHeader.layoutVersion,
            floor >= highest, floor <= journal.generation || journal.word.isSealed
        else {
            return Self.damaged("Something was written over the first page while the group was open.", at: file.path)
        }
        highestFloor.max(floor, ordering: .releasing)
        return nil
    }

    /// The number of the newest journal with a snapshot, at which each reader of the group begins. 0 before the first.
    ///
    /// A journal is removed only after the floor has risen above it.
    var floor: UInt64 { page.load(at: Word.floor) }

    /// Raises the floor; a higher one stays.
    func raiseFloor(to generation: UInt64) {
        while true {
            let known = floor
            if known >= generation || page.replace(known, with: generation, at: Word.floor) { return }
        }
    }

    // MARK: - Futex signals, for processes that cannot watch the wake channels

    /// Reads the futex words at which a thread sleeps for these channels.
    func seen(by sleepers: Sleepers, for wakeChannels: WakeChannels) -> Seen {
        switch sleepers {
        case .atGroup: .group(page.loadHalf(at: Word.signal))
        case .atChannels:
            .channels(
                wakeChannels.indices.map { index in
                    let offset = Word.channel(index)
                    return (offset, page.loadHalf(at: offset))
                })
        }
    }

    /// The wake channels for which writers must send futex signals as well.
    var signalInterest: WakeChannels { interest(of: .atChannels).union(interest(of: .atGroup)) }

    private func interest(of sleepers: Sleepers) -> WakeChannels {
        page.wakeChannels(at: Self.interestOffset(of: sleepers))
    }

    private static func interestOffset(of sleepers: Sleepers) -> Int {
        switch sleepers {
        case .atChannels: Word.channelInterest
        case .atGroup: Word.signalInterest
        }
    }

    /// Tells writers to send futex signals for these channels from now on.
    func listenToSignals(for wakeChannels: WakeChannels, by sleepers: Sleepers) {
        guard !interest(of: sleepers).isSuperset(of: wakeChannels) else { return }
        page.insert(wakeChannels, at: Self.interestOffset(of: sleepers))
    }

    /// Wakes the threads that sleep for any of the channels.
    func signal(_ wakeChannels: WakeChannels) {
        guard !Defect.silentSignals.isPresent else { return }
        let words = wakeChannels.intersection(interest(of: .atChannels)).indices.map(Word.channel)
        // Change all words before the first wake, so that a thread that sleeps for several words is woken once.
        for word in words { page.change(at: word) }
        for word in words { page.wake(at: word) }
        let atGroup = wakeChannels.intersection(interest(of: .atGroup))
        if !atGroup.isEmpty { page.wake(at: Word.signal, for: atGroup.signalMask) }
    }

    /// Wakes all threads that sleep at the futex word of the group, so that each checks what it sleeps for.
    func signalChange() {
        page.wake(at: Word.signal, for: WakeChannels.changeMask)
    }

    /// Makes the threads that still listen set their bits again; the interest of ended processes is dropped.
    ///
    /// A thread that wakes by this sets its bits before it reads the tail, so a commit in between is seen.
    func renewSignalInterest() {
        for index in interest(of: .atChannels).indices {
            // Clear and signal one channel after another: if this process is killed in between, only one channel lacks
            // its bit.
            page.remove(WakeChannels(index: index), at: Word.channelInterest)
            page.change(at: Word.channel(index))
            page.wake(at: Word.channel(index))
        }
        let atGroup = interest(of: .atGroup)
        guard !atGroup.isEmpty else { return }
        page.remove(atGroup, at: Word.signalInterest)
        page.wake(at: Word.signal, for: .max)
    }

    /// Sleeps until there is a futex signal for any of the channels that was not seen yet, or, at the words of channels,
    /// until the thread's own word changes. Blocks.
    func sleep(after seen: Seen, for wakeChannels: WakeChannels, or word: (own: OwnWord, value: UInt32))
        -> OwnWord.SleepEnd
    {
        switch seen {
        case .channels(let words): return page.sleep(whileSeen: words, or: word)
        case .group(let value):
            page.sleep(at: Word.signal, while: value, for: wakeChannels.signalMask | WakeChannels.changeMask)
            return .woken
        }
    }

    /// Returns when the page is on the disk. Blocks.
    func synchronize() throws(SystemCallError) {
        try file.synchronizeContent()
        try page.requirePresence(at: file.path)
    }

    private static func openToRead(in directory: Directory) throws(SharedCoreError) -> OpenFile {
        do throws(SystemCallError) {
            return try OpenFile(fileName, in: directory, .read)
        } catch {
            if error.isAbsent { throw .unopened(directory.path) }
            throw SharedCoreError(error)
        }
    }

    private static func open(in directory: Directory) throws(SharedCoreError) -> OpenFile {
        while true {
            if let present = try openPresent(in: directory) { return present }
            let floor: UInt64
            do throws(SharedCoreError) {
                floor = try FloorRecovery(directory: directory).floor()
            } catch {
                // Another process may have created it meanwhile, and may have opened the journals.
                if let present = try openPresent(in: directory) { return present }
                throw error
            }
            let new = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try make(in: directory, floor: floor)
            }
            if let new { return new }
        }
    }

    private static func openPresent(in directory: Directory) throws(SharedCoreError) -> OpenFile? {
        do throws(SystemCallError) {
            return try OpenFile(fileName, in: directory, .write)
        } catch {
            if error.isAbsent { return nil }
            throw SharedCoreError(error)
        }
    }

    /// Creates the file. It is complete before it has its name, so that no process sees half of it.
    ///
    /// - Returns: The file; nil if another file has the name.
    private static func make(in directory: Directory, floor: UInt64) throws(SystemCallError) -> OpenFile? {
        let (new, name) = try JournalBuilder.newFile(fileName, in: directory, byteCount: MappedPage.byteCount)
        do throws(SystemCallError) {
            let page = try MappedPage(of: new)
            page.store(magic, at: Word.magic)
            page.store(JournalHeader.layoutVersion, at: Word.version)
            page.store(floor, at: Word.floor)
            // Sync the content before the file gets its name: a loss of power may otherwise keep the name without the
            // content.
            try new.synchronizeContent()
            guard let name else { return try new.link(as: fileName, in: directory) ? new : nil }
            if try directory.rename(name, toFree: fileName) { return new }
            try directory.remove(name)
        } catch {
            if let name { _ = try? directory.remove(name) }
            // Another process has removed the unfinished file as left over, so the group's file exists already.
            guard error.isAbsent else { throw error }
        }
        return nil
    }
}
