internal import CLinux
internal import Glibc

/// Reads what the disk has of a file, past the system's cache: other processes may go on with what stands there while the disk has
/// lost it. What was written and is not on the disk yet is brought there first.
///
/// Where a file system reads through its cache alone, so does this: a `tmpfs` has no disk.
package final class DiskReader: Sendable {
    /// What every disk takes as the unit of a read, and of the memory for it.
    private static let blockByteCount = 4096

    private let file: OpenFile
    private let direct: OpenFile?

    /// - Parameter file: One that is open.
    package init(_ file: OpenFile, named name: String, in directory: Directory) {
        self.file = file
        // The name may be another file's by now.
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
                // One whose blocks are larger.
                guard error.number == EINVAL else { throw error }
                return try file.read(count: count, at: offset)
            }
            done += read
            // The end of the file, which is the one place where a part of a block is read.
            if read == 0 || done % Self.blockByteCount != 0 { break }
        }
        let found = buffer[min(offset - start, done)..<min(offset - start + count, done)]
        return Array(found)
    }
}
