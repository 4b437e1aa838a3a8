internal import CLinux
internal import Glibc

/// The first page of a file, shared with every process that maps it. Its words are read and changed atomically.
///
/// The file must have space reserved for the page: a store into a hole of a full file system would stop the process.
package final class MappedPage: Sendable {
    /// The size of the page, in bytes. Offsets of words are multiples of 8 below it.
    package static let byteCount = 4096

    // The address is constant, and the memory behind it is only used by atomic operations.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer

    /// Maps the page of a file that is open for writing.
    package init(of file: OpenFile) throws(SystemCallError) {
        guard
            let address = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
            address != MAP_FAILED
        else { throw SystemCallError("mmap", number: errno, at: file.path) }
        base = address
    }

    deinit {
        munmap(base, Self.byteCount)
    }

    /// The word at a byte offset.
    package func load(at offset: Int) -> UInt64 {
        clinux_load(base + offset)
    }

    /// Sets the word at a byte offset.
    package func store(_ value: UInt64, at offset: Int) {
        clinux_store(base + offset, value)
    }

    /// Sets the word at a byte offset when it is what was expected.
    ///
    /// - Returns: Whether it was.
    package func replace(_ expected: UInt64, with value: UInt64, at offset: Int) -> Bool {
        clinux_compare_exchange(base + offset, expected, value)
    }

    /// Sets bits of the word at a byte offset.
    ///
    /// - Returns: The word as it was before.
    @discardableResult
    package func insert(_ bits: UInt64, at offset: Int) -> UInt64 {
        clinux_fetch_or(base + offset, bits)
    }
}
