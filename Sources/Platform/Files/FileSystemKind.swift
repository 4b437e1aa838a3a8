internal import CLinux

/// What kind of file system a file is on, by the number that the system has for it.
package struct FileSystemKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Those that are on this machine alone and report every write to them. The numbers are those of `statfs(2)`.
    private static let local: Set<UInt64> = [
        0xef53,  // ext2, ext3, ext4
        0x5846_5342,  // XFS
        0x9123_683e,  // Btrfs
        0x0102_1994,  // tmpfs
        0x8584_58f6,  // ramfs
        0xf2f5_2010,  // F2FS
        0xca45_1a4e,  // bcachefs
    ]

    /// Whether it is known to report every write of every process. Of the others, some do.
    package var reportsWrites: Bool { Self.local.contains(rawValue) }
}

extension Directory {
    /// The kind of the file system that the directory is on.
    package func fileSystemKind() throws(SystemCallError) -> FileSystemKind {
        var kind: UInt64 = 0
        try SystemCall.negated("fstatfs", at: path) { clinux_file_system(descriptor, &kind) }
        return FileSystemKind(rawValue: kind)
    }
}
