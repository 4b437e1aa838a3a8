internal import CLinux
internal import Glibc
internal import Synchronization

/// Reads the content of a file from the disk, past the system's cache: other processes may still use cached content
/// that the disk has lost. Written data that is not on the disk yet is written there first.
///
/// If a file system reads only through its cache, so does this, and ``isPastCache`` is false.
package final class DiskReader: Sendable {
    /// The unit of a read that every disk accepts, and of the memory for it.
    private static let blockByteCount = 4096

    private let file: OpenFile
    private let direct: OpenFile?
    private let hasReadCache = Atomic(false)

    /// True if all data came from the disk, as far as the file system tells: a `tmpfs` has no disk, but newer kernels
    /// claim that it reads past its cache.
    package var isPastCache: Bool { direct != nil && !hasReadCache.load(ordering: .relaxed) }

    /// Makes a reader of an open file, and opens the file a second time for reads past the cache.
    ///
    /// - Parameters:
    ///   - file: The open file.
    ///   - name: Its name in the directory, by which it is opened the second time.
    package init(_ file: OpenFile, named name: String, in directory: Directory) {
        self.file = file
        // The name may belong to another file by now, so the identity of the opened file is compared.
        let direct = try? OpenFile(name, in: directory, .readPastCache)
        let isSame = (try? direct?.presence().identity) == (try? file.presence().identity)
        self.direct = isSame ? direct : nil
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    package func read(count: Int, at offset: Int) throws(SystemCallError) -> [UInt8] {
        guard let direct else { return try file.read(count: count, at: offset) }
        let start = offset / Self.blockByteCount * Self.blockByteCount
        let end = (offset + count + Self.blockByteCount - 1) / Self.blockByteCount * Self.blockByteCount
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: end - start, alignment: Self.blockByteCount)
        defer { buffer.deallocate() }
        var done = 0
        while start + done < offset + count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let read: Int
            do throws(SystemCallError) {
                read = try SystemCall.run("pread", at: file.path) {
                    pread(direct.descriptor, rest.baseAddress, rest.count, start + done)
                }
            } catch {
                // The disk has larger blocks.
                guard error.number == EINVAL else { throw error }
                hasReadCache.store(true, ordering: .relaxed)
                return try file.read(count: count, at: offset)
            }
            done += read
            // The file has ended: only there does a read return a partial block.
            if read == 0 || done % Self.blockByteCount != 0 { break }
        }
        let found = buffer[min(offset - start, done)..<min(offset - start + count, done)]
        return Array(found)
    }
}
