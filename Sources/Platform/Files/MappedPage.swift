internal import CLinux
internal import Glibc

/// The first page of a file, shared with every process that maps it. Its words are read and changed atomically.
///
/// The file must have space reserved for the page: a store into a hole of a full file system would kill the process.
package final class MappedPage: Sendable {
    /// The size of the page, in bytes. Offsets of words are multiples of 8 below it, those of halves of 4.
    package static let byteCount = 4096

    // The address is constant, and its memory is only accessed by atomic operations.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    /// The page's entry for the handler of SIGBUS, which is only changed by atomic operations; see ``BusErrorHandler``.
    private nonisolated(unsafe) let watched: OpaquePointer
    #if FAIL_POINTS
        private let file: OpenFile
    #endif

    /// Maps the page of a file that is open for writing, or read-only if `isReadOnly` is set: then no word may be
    /// changed.
    ///
    /// - Throws: An error with ``SystemCallError/cannotShareMemory`` if processes cannot share memory on the file
    ///   system.
    package init(of file: OpenFile, isReadOnly: Bool = false) throws(SystemCallError) {
        let protection = isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
        // MAP_FAILED is -1.
        let number = try SystemCall.run("mmap", at: file.path) {
            Int(bitPattern: mmap(nil, Self.byteCount, protection, MAP_SHARED, file.descriptor, 0))
        }
        let mapped = UnsafeMutableRawPointer(bitPattern: number)
        guard let address = mapped, let watched = clinux_watch_page(address) else {
            munmap(mapped, Self.byteCount)
            throw SystemCallError("mmap", number: ENOMEM, at: file.path)
        }
        base = address
        self.watched = watched
        // The kernel marks a page as clean even if writing it out has failed: after an eviction, its old content would
        // be read again. This can still happen if the user may lock no more memory.
        if !isReadOnly { mlock(address, Self.byteCount) }
        #if FAIL_POINTS
            self.file = file
        #endif
    }

    /// Records a change of the word at a byte offset.
    @inline(__always)
    private func trace(_ offset: Int) {
        #if FAIL_POINTS
            file.trace { number in
                let word = load(at: offset)
                let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
                return .wrote(file: number, offset: offset, bytes: bytes)
            }
        #endif
    }

    deinit {
        clinux_forget_page(watched)
        munmap(base, Self.byteCount)
    }

    /// True if an access has found that the file no longer contains the page, for example because the file was
    /// truncated. ``BusErrorHandler`` has then replaced the page by private memory of zeros. Without that handler, such
    /// an access ends the process by SIGBUS.
    package var isLost: Bool { clinux_is_page_lost(watched) }

    /// Throws if the page is lost.
    package func requirePresence(at location: String) throws(SystemCallError) {
        // If the page is lost, this read makes the kernel report that by SIGBUS.
        _ = load(at: 0)
        if isLost { throw SystemCallError("mmap", number: EIO, at: location) }
    }

    /// Returns the word at a byte offset.
    package func load(at offset: Int) -> UInt64 {
        clinux_load(base + offset)
    }

    /// Sets the word at a byte offset.
    package func store(_ value: UInt64, at offset: Int) {
        clinux_store(base + offset, value)
        trace(offset)
    }

    /// Sets the word at a byte offset if it has an expected value.
    ///
    /// - Returns: Whether it was set.
    package func replace(_ expected: UInt64, with value: UInt64, at offset: Int) -> Bool {
        let isReplaced = clinux_compare_exchange(base + offset, expected, value)
        if isReplaced { trace(offset) }
        return isReplaced
    }

    /// Returns the lower half of the word at a byte offset, which ``sleep(at:while:for:)`` compares.
    package func loadHalf(at offset: Int) -> UInt32 {
        clinux_load_half(base + offset)
    }

    /// Changes the lower half of the word at a byte offset and wakes all threads that sleep at it for a bit of the
    /// mask.
    package func wake(at offset: Int, for mask: UInt32) {
        clinux_increment_half(base + offset)
        _ = clinux_wake_at(base + offset, mask)
    }

    /// Sleeps while the lower half of the word at a byte offset equals `seen` and no thread wakes the sleepers for a
    /// bit of the mask. Blocks; a signal may end it early.
    package func sleep(at offset: Int, while seen: UInt32, for mask: UInt32) {
        _ = clinux_sleep_at(base + offset, seen, mask)
    }

    /// Changes the half word at a byte offset, so that no thread goes to sleep on its former value.
    package func change(at offset: Int) {
        clinux_increment_half(base + offset)
    }

    /// Wakes all threads that sleep at the half word at a byte offset.
    package func wake(at offset: Int) {
        _ = clinux_wake_at(base + offset, .max)
    }

    /// Sleeps while each given half word has its given value, until a thread wakes the sleepers of one of them. Blocks; may
    /// return early, for a POSIX signal for example.
    ///
    /// - Parameters:
    ///   - seen: The byte offsets of at most ``OwnWord/mostOthers`` half words, with what was read from them.
    ///   - word: The word of this process, with what was read from it.
    /// - Returns: ``OwnWord/SleepEnd/woken`` also where a word had changed already.
    package func sleep(
        whileSeen seen: [(offset: Int, value: UInt32)], or word: (own: OwnWord, value: UInt32)
    ) -> OwnWord.SleepEnd {
        let shared = seen.map { (UnsafeRawPointer(base + $0.offset), $0.value) }
        return withExtendedLifetime(word.own) { OwnWord.sleep(at: [(word.own.address, word.value)] + shared) }
    }

    /// Returns whether the system lets threads sleep at words of the page.
    package func canSleep(at offset: Int) -> Bool {
        // The sleep is given a value that the word does not have, so that the call returns at once if the system
        // supports it.
        clinux_sleep_at(base + offset, ~loadHalf(at: offset), .max) == -EAGAIN
    }

    /// Sets bits of the word at a byte offset.
    ///
    /// - Returns: The previous word.
    @discardableResult
    package func insert(_ bits: UInt64, at offset: Int) -> UInt64 {
        let before = clinux_fetch_or(base + offset, bits)
        trace(offset)
        return before
    }
}
