internal import CoreAPI
internal import Platform

extension Journal {
    /// The space behind the records that is reserved for records that free space or end something, so that the session
    /// of an ended owner can be ended on a full disk too (contract S10).
    static let reserveByteCount = 64 << 10
    /// The part of it that is reserved for endings and that a hand-over must leave free.
    static let endingsByteCount = 16 << 10
    /// The bytes reserved at a time.
    static let growthByteCount = 256 << 10

    /// Reserves space for a record before a byte of it is written. The caller must hold the lock.
    ///
    /// - Parameter kept: The bytes of the space for a full disk that must stay free.
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

    /// Frees the journal's space beyond a tail and its reserve. The caller must hold the lock.
    ///
    /// - Returns: Whether there was anything to free.
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
    /// Reserves space up to `wanted`, or only up to `needed` if the disk has no more.
    ///
    /// - Returns: The end of the reserved space.
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
