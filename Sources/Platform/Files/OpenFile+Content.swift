internal import CLinux
internal import Glibc

extension OpenFile {
    /// Reads into `buffer` from `offset` on until it is full or the file ends.
    ///
    /// - Returns: The number of bytes that were read.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallError) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let count = try SystemCall.run("pread", at: path) {
                pread(descriptor, base + done, part(of: buffer.count - done, in: "pread.short"), offset + done)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    package func read(count: Int, at offset: Int) throws(SystemCallError) -> [UInt8] {
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(SystemCallError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the start of a file as text; nil when it cannot be read. For files that the kernel generates when they
    /// are read, such as those of `/proc`, which report no size.
    package static func text(of path: String, upTo count: Int = 64 << 10) -> String? {
        (try? OpenFile(path: path, .read).read(count: count, at: 0)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads from a descriptor, which may be a pipe, to its end, but at most `count` bytes.
    ///
    /// - Parameter place: The location in errors.
    package static func read(
        from descriptor: Int32, upTo count: Int, at place: String
    ) throws(SystemCallError) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while content.count < count {
            let wanted = min(buffer.count, count - content.count)
            let received = try SystemCall.run("read", at: place) { Glibc.read(descriptor, &buffer, wanted) }
            if received == 0 { break }
            content += buffer[..<received]
        }
        return content
    }

    /// Reads the 8 bytes at an offset as a little-endian word; 0 if the file ends before them.
    package func readWord(at offset: Int) throws(SystemCallError) -> UInt64 {
        var word: UInt64 = 0
        let count = try withUnsafeMutableBytes(of: &word) { buffer throws(SystemCallError) in
            try read(into: buffer, at: offset)
        }
        return count == 8 ? UInt64(littleEndian: word) : 0
    }

    /// Writes all of `bytes` from `offset` on.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemCallError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            done += try SystemCall.run("pwrite", at: path) {
                pwrite(descriptor, base + done, part(of: bytes.count - done, in: "pwrite.short"), offset + done)
            }
        }
        trace { .wrote(file: $0, offset: offset, bytes: Array(bytes)) }
    }

    /// Returns how many of `count` bytes one call transfers: half of them at a fail point, as the system may when a
    /// disk becomes full.
    private func part(of count: Int, in place: String) -> Int {
        FailPoint.failure(of: place, at: path) == nil ? count : (count + 1) / 2
    }

    /// Writes all of `bytes` from `offset` on.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemCallError) {
        var failure: SystemCallError?
        bytes.withUnsafeBytes { buffer in
            do throws(SystemCallError) {
                try write(buffer, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Reserves the space of a range, so that writing there cannot run out of it.
    package func allocate(_ range: Range<Int>) throws(SystemCallError) {
        guard !range.isEmpty else { return }
        try SystemCall.negated("posix_fallocate", at: path) {
            clinux_allocate(descriptor, Int64(range.lowerBound), Int64(range.count))
        }
        trace { .extended(file: $0, byteCount: range.upperBound) }
    }

    /// Frees the space of a range: it reads as zeros from then on, and the size stays. A file system that cannot do
    /// that keeps the space until the last process closes the file.
    package func punch(_ range: Range<Int>) throws(SystemCallError) {
        guard !range.isEmpty else { return }
        try SystemCall.negated("fallocate(PUNCH_HOLE)", at: path) {
            clinux_punch(descriptor, Int64(range.lowerBound), Int64(range.count))
        }
        trace { .wrote(file: $0, offset: range.lowerBound, bytes: [UInt8](repeating: 0, count: range.count)) }
    }

    /// Waits until the file's content is on the disk. Blocks, so never call it on a thread of the cooperative pool.
    package func synchronizeContent() throws(SystemCallError) {
        trace { .syncBegan(file: $0) }
        _ = try SystemCall.run("fdatasync", at: path) { fdatasync(descriptor) }
        trace { .syncEnded(file: $0) }
    }

    /// Cuts the file, or extends it by a hole.
    package func truncate(to count: Int) throws(SystemCallError) {
        _ = try SystemCall.run("ftruncate", at: path) { ftruncate(descriptor, count) }
    }
}
