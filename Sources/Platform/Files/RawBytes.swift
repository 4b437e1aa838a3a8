internal import Glibc

extension UnsafeRawBufferPointer {
    /// Returns the first position of a byte at or after an offset; nil if there is none. Uses the C library, which
    /// compares many bytes at once.
    package func firstOffset(of byte: UInt8, from offset: Int = 0) -> Int? {
        guard offset < count, let base = baseAddress, let found = memchr(base + offset, Int32(byte), count - offset)
        else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }

    /// Returns whether it begins with other bytes. Uses the C library, like ``firstOffset(of:from:)``.
    package func begins(with other: [UInt8]) -> Bool {
        guard other.count <= count else { return false }
        guard let base = baseAddress else { return true }
        return memcmp(base, other, other.count) == 0
    }
}
