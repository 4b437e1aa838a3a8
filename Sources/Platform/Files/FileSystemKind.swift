internal import CLinux
internal import Glibc

/// The kind of a file system, by its number in the kernel.
///
/// Many file systems share the number of FUSE; the mount table has the names of these.
package struct FileSystemKind: Hashable, Sendable {
    package let rawValue: UInt64
    /// The type in the mount table, such as `virtiofs` or `fuse.sshfs`, of a file system with the number of FUSE; nil
    /// for all others, and if the table cannot be read.
    package let mountType: String?

    package init(rawValue: UInt64, mountType: String? = nil) {
        self.rawValue = rawValue
        self.mountType = mountType
    }

    private static let fuse: UInt64 = 0x6573_5546

    /// The file systems of this machine alone that report every write. The numbers are those of `statfs(2)`.
    private static let local: [UInt64: String] = [
        0xef53: "ext4",  // and ext2, ext3
        0x5846_5342: "XFS",
        0x9123_683e: "Btrfs",
        0x0102_1994: "tmpfs",
        0x8584_58f6: "ramfs",
        0xf2f5_2010: "F2FS",
        0xca45_1a4e: "bcachefs",
    ]

    /// The file systems on which other machines may write to files. Locks and mapped pages differ between two machines.
    private static let remote: [UInt64: String] = [
        0x6969: "NFS",
        0x0102_1997: "9p",
        0xff53_4d42: "CIFS",
        0xfe53_4d42: "SMB2",
        0x517b: "SMB",
        0x00c3_6400: "Ceph",
        0x5346_414f: "AFS",
        0x6b41_4653: "AFS",
        0x786f_4256: "VirtualBox shared folders",
        0xbacb_acbc: "VMware shared folders",
        0x0bd0_0bd0: "Lustre",
        0x0116_1970: "GFS2",
        0x7461_636f: "OCFS2",
        0x4750_4653: "GPFS",
        0x1983_0326: "BeeGFS",
    ]

    /// The types of file systems with the number of FUSE that other machines share, as the mount table names them.
    private static let remoteMounts: Set<String> = [
        "virtiofs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.cephfs", "fuse.s3fs",
        "fuse.rclone",
        "fuse.gcsfuse", "fuse.juicefs", "fuse.JuiceFS", "fuse.davfs", "fuse.mfs", "fuse.curlftpfs", "fuse.vmhgfs-fuse",
        "fuse.grpcfuse", "fuse.osxfs",
    ]

    /// Other file systems, by their common names.
    private static let others: [UInt64: String] = [
        fuse: "FUSE",
        0x794c_7630: "overlayfs",
        0x4d44: "FAT",
        0x2011_bab0: "exFAT",
        0x2fc1_2fc1: "ZFS",
    ]

    /// The file systems on which space reserved by `fallocate` stays with the file, even when it is overwritten: ext2,
    /// ext3 and ext4, XFS, tmpfs. A copy-on-write file system needs new space for each write. The file system below an
    /// overlay cannot be determined.
    private static let reserving: Set<UInt64> = [0xef53, 0x5846_5342, 0x0102_1994]

    /// True if space that is reserved for a file is available on a full disk. On a thin volume it may not be, which no
    /// system call reveals.
    package var keepsReservedSpace: Bool { Self.reserving.contains(rawValue) }

    /// True if the file system is known to report every write of every process. Some of the others do, too.
    package var reportsWrites: Bool { Self.local[rawValue] != nil }

    /// True if other machines may mount the file system too, so that processes cannot rely on its locks and mapped
    /// pages.
    package var isRemote: Bool {
        Self.remote[rawValue] != nil || mountType.map(Self.remoteMounts.contains) ?? false
    }

    /// True if only the mount table identifies the file system, as for those of FUSE.
    fileprivate var isInUserSpace: Bool { rawValue == Self.fuse }

    /// Returns the type of a mount in the lines of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    ///
    /// - Returns: Nil if no line has that number, or the line has another form.
    package static func mountType(of mount: Int, inTable table: String) -> String? {
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let first = fields.first, Int(first) == mount else { continue }
            // Any number of optional fields follows the sixth, ended by a dash. Spaces in names are escaped.
            guard let end = fields.dropFirst(6).firstIndex(of: "-"), end + 1 < fields.endIndex else { return nil }
            return String(fields[end + 1])
        }
        return nil
    }
}

extension FileSystemKind: CustomStringConvertible {
    /// The name of the file system, or its number if the name is not known.
    package var description: String {
        mountType ?? Self.local[rawValue] ?? Self.remote[rawValue] ?? Self.others[rawValue]
            ?? "a file system of type 0x" + String(rawValue, radix: 16)
    }
}

extension Directory {
    /// Returns the kind of the directory's file system.
    package func fileSystemKind() throws(SystemCallError) -> FileSystemKind {
        var kind: UInt64 = 0
        try SystemCall.negated("fstatfs", at: path) { clinux_file_system(descriptor, &kind) }
        let found = FileSystemKind(rawValue: kind)
        return found.isInUserSpace ? FileSystemKind(rawValue: kind, mountType: mountType) : found
    }

    /// The type of the directory's mount in the mount table; nil if the table does not list it.
    private var mountType: String? {
        guard
            let line = OpenFile.text(of: "/proc/self/fdinfo/\(descriptor)")?.split(separator: "\n").first(where: {
                $0.hasPrefix("mnt_id:")
            }),
            let mount = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Int($0) }),
            let table = OpenFile.text(of: "/proc/self/mountinfo", upTo: 1 << 20)
        else { return nil }
        return FileSystemKind.mountType(of: mount, inTable: table)
    }

    /// Returns the number of bytes that the file system has for new files of users other than root; a quota may leave
    /// fewer.
    package func freeByteCount() throws(SystemCallError) -> Int {
        var status = statvfs()
        _ = try SystemCall.run("fstatvfs", at: path) { fstatvfs(descriptor, &status) }
        let (count, isMore) = UInt(status.f_bavail).multipliedReportingOverflow(by: UInt(status.f_frsize))
        // Some file systems do not know the number, and report all ones. The result is small enough for a sum without
        // overflow.
        return isMore ? Int.max / 2 : min(Int(clamping: count), Int.max / 2)
    }
}
