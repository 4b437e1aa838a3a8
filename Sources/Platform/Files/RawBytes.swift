internal import Glibc

extension UnsafeRawBufferPointer {
    /// Returns where a byte first stands, at an offset or behind it; nil where it does not. By the C library, which looks at many
    /// bytes at once.
    package func firstOffset(of byte: UInt8, from offset: Int = 0) -> Int? {
        guard offset < count, let base = baseAddress, let found = memchr(base + offset, Int32(byte), count - offset)
        else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }

    /// Returns whether it begins with other bytes. By the C library, as ``firstOffset(of:from:)``.
    package func begins(with other: [UInt8]) -> Bool {
        guard other.count <= count else { return false }
        guard let base = baseAddress else { return true }
        return memcmp(base, other, other.count) == 0
    }
}
