internal import StoreEngine

/// The defect `ignoredChecksum`: a reader that takes what stands there for what was written.
extension JournalChain {
    /// Reads the frame at the front of `bytes` as ``read(_:)`` does, and goes on to it also when it was changed.
    mutating func believe(_ bytes: ArraySlice<UInt8>) -> Reading {
        let reading = read(bytes)
        #if FAIL_POINTS
            guard case .damaged = reading else { return reading }
            let length = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            let payload = bytes.dropFirst(Self.headerByteCount).prefix(length)
            guard payload.count == length else { return reading }
            // As the next frame goes on from it.
            let chainWord = bytes.dropFirst(Self.headerByteCount - 8).prefix(8).reversed().reduce(0) {
                $0 << 8 | UInt64($1)
            }
            self = JournalChain(salt: chainWord)
            return .frame(payload.startIndex..<payload.endIndex)
        #else
            return reading
        #endif
    }
}
