internal import CoreAPI
internal import Platform

extension Journal {
    /// The space behind the records that only what makes room or ends something may use, so that a full disk never
    /// leaves a dead owner in place (contract S10).
    static let reserveByteCount = 64 << 10
    /// How much space is reserved at a time.
    static let growthByteCount = 256 << 10

    /// Makes sure that the file has space for a record, before a byte of it is written. Only for the lock's holder.
    ///
    /// - Parameter mayUseReserve: Whether the record may use the space that is kept for endings.
    /// - Throws: `storageFull`.
    func reserveSpace(for byteCount: Int, at tail: Int, mayUseReserve: Bool) throws(SharedCoreError) {
        let needed = tail + byteCount + (mayUseReserve ? 0 : Self.reserveByteCount)
        let reserved = reservedEnd
        guard needed > reserved else { return }
        for end in [needed + Self.growthByteCount, needed] {
            do throws(SystemCallError) {
                try file.allocate(reserved..<end)
                reservedEnd = end
                return
            } catch {
                guard error.isStorageFull, end > needed else { throw SharedCoreError(error) }
            }
        }
    }
}
