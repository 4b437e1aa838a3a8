internal import Platform

/// The space of one more journal, kept as a file of its own, so that on a full disk a compaction can make room and a
/// frozen writer can be passed over (contract S10, S15).
enum SpareSpace {
    static let fileName = "spare"
    private static let leastContentByteCount = 64 << 10

    /// Makes the file unless it is there and large enough for a journal of a store of this size. Without space there is
    /// none until there is space again.
    static func keep(for storeByteCount: Int, in directory: Directory) {
        let content = max(leastContentByteCount, storeByteCount + storeByteCount / 4)
        let wanted = JournalHeader.byteCount + content + Journal.reserveByteCount
        if let present = try? OpenFile(fileName, in: directory, .write) {
            guard let found = try? present.status().byteCount, found < wanted else { return }
            try? present.allocate(found..<wanted)
            return
        }
        let name = fileName + "." + String(UInt64.random(in: 0...UInt64.max), radix: 16) + JournalBuilder.nameEnding
        guard let file = try? OpenFile(name, in: directory, .createNew) else { return }
        do throws(SystemCallError) {
            try file.allocate(0..<wanted)
            if try directory.rename(name, toFree: fileName) { return }
        } catch {}
        _ = try? directory.remove(name)
    }
}
