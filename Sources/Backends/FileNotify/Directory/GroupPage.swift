internal import CoreAPI
internal import Platform

/// The first page of the file `sessions`, which lives as long as the group: the version of the layout, and the number of
/// the journal from which the group is to be read.
///
/// The rest of the file is never written. Its bytes are what participants lock; see ``SessionLocks``.
final class GroupPage: Sendable {
    static let fileName = "sessions"

    private enum Word {
        static let magic = 0
        static let version = 8
        static let floor = 64
        static let diskPromise = 256
    }

    private static let magic: UInt64 = 0x3150_5247_4353_4853

    private let file: OpenFile
    private let page: MappedPage

    /// Opens the page of a group, and makes it when there is none.
    init(in directory: Directory) throws(SharedCoreError) {
        do throws(SystemCallError) {
            file = try Self.open(in: directory)
            guard try file.status().byteCount >= MappedPage.byteCount else {
                throw SystemCallError("read", number: 0, at: file.path)
            }
            page = try MappedPage(of: file)
        } catch {
            throw error.number == 0
                ? SharedCoreError(.corrupt, "The file is shorter than its first page.", at: error.location)
                : SharedCoreError(error)
        }
        guard page.load(at: Word.magic) == Self.magic else {
            throw SharedCoreError(.corrupt, "This is not the first page of a group.", at: file.path)
        }
        let version = page.load(at: Word.version)
        guard version == JournalHeader.layoutVersion else {
            throw .layout(version, known: JournalHeader.layoutVersion, at: file.path)
        }
    }

    /// The number of the newest journal with a snapshot: whoever reads the group begins there. 0 before the first.
    ///
    /// A journal is removed only after the floor has risen above it.
    var floor: UInt64 { page.load(at: Word.floor) }

    /// Raises the floor; one that is higher already stays.
    func raiseFloor(to generation: UInt64) {
        while true {
            let known = floor
            if known >= generation || page.replace(known, with: generation, at: Word.floor) { return }
        }
    }

    /// Whether anybody was ever promised that commits survive the loss of power. Then every participant keeps to it when
    /// it replaces or removes a journal, whatever it was promised itself (contract S10).
    var isDiskPromised: Bool { page.load(at: Word.diskPromise) != 0 }

    /// Remembers the promise. It is made with the first commit that waits for the disk, which takes the page there too.
    func promiseDisk() {
        if !isDiskPromised { page.store(1, at: Word.diskPromise) }
    }

    /// Returns when the page is on the disk. Blocks.
    func synchronize() throws(SystemCallError) {
        try file.synchronizeContent()
    }

    private static func open(in directory: Directory) throws(SystemCallError) -> OpenFile {
        while true {
            do throws(SystemCallError) {
                return try OpenFile(fileName, in: directory, .write)
            } catch {
                guard error.isAbsent else { throw error }
            }
            // Complete before it has its name, so that nobody sees half of it.
            let name = fileName + "." + String(UInt64.random(in: 0...UInt64.max), radix: 16) + JournalBuilder.nameEnding
            let new = try OpenFile(name, in: directory, .createNew)
            do throws(SystemCallError) {
                try new.allocate(0..<MappedPage.byteCount)
                let page = try MappedPage(of: new)
                page.store(magic, at: Word.magic)
                page.store(JournalHeader.layoutVersion, at: Word.version)
                if try directory.rename(name, toFree: fileName) { return new }
            } catch {
                _ = try? directory.remove(name)
                // Removed by somebody who cleans up: then there is a group already.
                guard error.isAbsent else { throw error }
                continue
            }
            try directory.remove(name)
        }
    }
}
