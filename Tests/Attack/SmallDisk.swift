internal import CoreAPITesting
internal import Glibc
internal import TestSupport

/// A small file system of its own for the group of an attempt. It is mounted in the namespace that this program runs in, and is
/// gone with it at the latest.
struct SmallDisk: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case tmpfs
        case ext4
    }

    let path: String
    private var filler: String { path + "/filler" }

    /// - Throws: ``HarnessLimitation`` where such a file system cannot be mounted.
    init(_ kind: Kind, mebibytes: Int, for attempt: Attempt) async throws {
        path = attempt.groups
        switch kind {
        case .tmpfs:
            try await attempt.tool("mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=700", "none", path)
        case .ext4:
            let image = attempt.newPath("image")
            try await attempt.tool("truncate", "-s", "\(mebibytes)M", image)
            // Without space that is kept for root.
            try await attempt.tool("mkfs.ext4", "-q", "-F", "-m", "0", image)
            try await attempt.tool("mount", "-o", "loop", image, path)
        }
        chmod(path, 0o700)
    }

    func unmount(_ attempt: Attempt) async {
        _ = try? await attempt.tool("umount", "--lazy", path)
    }

    /// Fills the free space, completely or except for a number of bytes.
    func fill(leaving leftByteCount: Int = 0) throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileProblem(path: filler, code: errno) }
        defer { close(file) }
        var count = 64 << 10
        let zeros = [UInt8](repeating: 0, count: count)
        while count > 0 {
            if write(file, zeros, count) <= 0 { count /= 4 }
        }
        fsync(file)
        var status = stat()
        if leftByteCount > 0, fstat(file, &status) == 0 { ftruncate(file, max(0, status.st_size - leftByteCount)) }
    }

    /// Frees all of it.
    func free() {
        unlink(filler)
    }

    /// The number of used bytes, including removed files that are still open.
    var usedByteCount: Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
    }
}
