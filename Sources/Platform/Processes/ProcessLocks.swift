internal import Glibc

/// The locks of open file descriptions that a process has, as `/proc/PID/fdinfo` shows them.
package enum ProcessLocks {
    /// A byte range that a descriptor has locked for writing.
    struct Lock: Hashable {
        /// The device and the number of the file as printed by the kernel: they may differ from those of `fstat`.
        let file: Substring
        let first: Substring
        let last: Substring

        /// Reads a line such as `lock:\t1: OFDLCK ADVISORY  WRITE -1 fe:00:162284 4096 4096`; nil for any other.
        init?(_ line: Substring) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count == 9, words[0] == "lock:", words[2] == "OFDLCK", words[4] == "WRITE" else { return nil }
            file = words[6]
            first = words[7]
            last = words[8]
        }
    }

    /// Returns whether a process holds the write lock on exactly one byte of the file on which this process's
    /// descriptor holds locks.
    ///
    /// - Parameters:
    ///   - own: A description of the file through which this process has locked another byte. Its locks identify the
    ///     file.
    /// - Throws: The reason why the locks cannot be seen, such as that the process has ended or belongs to another
    ///   user.
    package static func holds(
        _ byte: Int, ofFileOf own: OpenFile, process pid: Int32
    ) throws(SystemCallError) -> Bool {
        guard let file = try locks(of: "/proc/self/fdinfo/\(own.descriptor)").first?.file else { return false }
        let wanted = Lock(file: file, first: "\(byte)", last: "\(byte)")
        let directory = try Directory(path: "/proc/\(pid)/fdinfo")
        // The highest descriptors are checked first, because a participant has its locks there (`OpenFile.EarlyEnd`).
        for number in try directory.names().compactMap({ Int($0) }).sorted(by: >) {
            do throws(SystemCallError) {
                if try locks(of: directory.path + "/\(number)").contains(wanted) { return true }
            } catch {
                // Closed meanwhile.
                guard error.isAbsent else { throw error }
            }
        }
        return false
    }

    private static func locks(of path: String) throws(SystemCallError) -> [Lock] {
        let bytes = try OpenFile(path: path, .read).read(count: 1 << 20, at: 0)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap(Lock.init)
    }
}

extension ProcessLocks.Lock {
    fileprivate init(file: Substring, first: Substring, last: Substring) {
        self.file = file
        self.first = first
        self.last = last
    }
}
