internal import CoreAPI
internal import Platform

extension Journal {
    /// The space behind the records that is reserved for records that free space or end something, so that a full disk
    /// never leaves a dead owner in place (contract S10).
    static let reserveByteCount = 64 << 10
    /// The part of it that is kept for endings and that a change of hands leaves alone.
    static let endingsByteCount = 16 << 10
    /// How much space is reserved at a time.
    static let growthByteCount = 256 << 10

    /// Makes sure that the file has space for a record, before a byte of it is written. Only for the lock's holder.
    ///
    /// - Parameter kept: How much of the space that is kept for a full disk has to be left.
    /// - Throws: `storageFull`.
    func reserveSpace(for byteCount: Int, at tail: Int, keeping kept: Int) throws(SharedCoreError) {
        let needed = tail + byteCount + kept
        guard needed > reservedEnd else { return }
        guard kept == Self.reserveByteCount else { return try takeSpace(to: needed) }
        do throws(SharedCoreError) {
            try takeSpace(to: needed + Self.growthByteCount)
        } catch {
            guard error.code == .storageFull else { throw error }
            try takeSpace(to: needed)
        }
    }

    /// Gives back the journal's space beyond a tail and its reserve. Only for the lock's holder.
    ///
    /// - Returns: Whether there was anything to give back.
    func giveBackSpace(behind tail: Int) throws(SharedCoreError) -> Bool {
        let end = tail + Self.reserveByteCount
        guard end < reservedEnd else { return false }
        reservedEnd = end
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.truncate(to: end) }
        return true
    }

    private func takeSpace(to end: Int) throws(SharedCoreError) {
        let reserved = reservedEnd
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.allocate(reserved..<end) }
        reservedEnd = end
    }
}

extension OpenFile {
    /// Reserves space up to a place, or to a nearer one that is enough when there is no more.
    ///
    /// - Returns: Up to where there is space now.
    func allocate(from start: Int, to needed: Int, preferably wanted: Int) throws(SystemCallError) -> Int {
        do throws(SystemCallError) {
            try allocate(start..<wanted)
            return wanted
        } catch {
            guard error.isStorageFull else { throw error }
            try allocate(start..<needed)
            return needed
        }
    }
}
