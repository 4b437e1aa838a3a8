internal import Platform

/// The space of more journals, kept as a file of its own, so that on a full disk a frozen writer can be passed over and
/// then a compaction can make room (contract S10, S15).
enum SpareSpace {
    static let fileName = "spare"
    /// What a journal has space for beyond its snapshot and what is kept for endings.
    static let leastContentByteCount = 64 << 10

    /// The space of a journal with a snapshot of this size.
    static func compaction(of snapshotByteCount: Int) -> Int {
        JournalHeader.byteCount + snapshotByteCount + Journal.reserveByteCount
    }

    /// The same, and that of a journal without a snapshot before it.
    static func rollAndCompaction(of snapshotByteCount: Int) -> Int {
        compaction(of: 0) + compaction(of: snapshotByteCount)
    }

    /// Makes the file unless it is there and so large. Without space there is none until there is space again.
    static func keep(_ wanted: Int, in directory: Directory) throws(SystemCallError) {
        do throws(SystemCallError) {
            let present = try OpenFile(fileName, in: directory, .write)
            return try present.allocate(min(wanted, try present.status().byteCount)..<wanted)
        } catch {
            guard error.isAbsent else { throw error }
        }
        let name = fileName + "." + String(UInt64.random(in: 0...UInt64.max), radix: 16) + JournalBuilder.nameEnding
        let file = try OpenFile(name, in: directory, .createNew)
        do throws(SystemCallError) {
            try file.allocate(0..<wanted)
            if try directory.rename(name, toFree: fileName) { return }
        } catch {
            _ = try? directory.remove(name)
            throw error
        }
        try directory.remove(name)
    }
}
