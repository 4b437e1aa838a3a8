internal import CLinux

extension OpenFile {
    /// The bytes of a range that other descriptions have locked one by one, in rising order.
    ///
    /// The kernel names one locked byte of a range, and not the first; so each one found divides the range, and the
    /// parts are asked again. A lock that is taken or given back meanwhile may or may not be among them.
    package func lockedBytes(in range: Range<Int>) throws(SystemCallError) -> [Int] {
        var found: [Int] = []
        var rest = [range]
        while let part = rest.popLast() {
            guard !part.isEmpty, let byte = try lockedByte(in: part) else { continue }
            found.append(byte)
            rest.append(part.lowerBound..<byte)
            rest.append(byte + 1..<part.upperBound)
        }
        return found.sorted()
    }

    /// Any byte of a range that another description has locked; nil when none is.
    package func lockedByte(in range: Range<Int>) throws(SystemCallError) -> Int? {
        var found: Int64 = 0
        let isLocked = try SystemCall.negated("fcntl(F_OFD_GETLK)", at: path) {
            clinux_find_locked_byte(descriptor, Int64(range.lowerBound), Int64(range.count), &found)
        }
        // A lock may be longer than a byte and begin before the range.
        return isLocked == 1 ? max(range.lowerBound, Int(found)) : nil
    }

    /// Whether any process has the file open for writing. Needs a file that is open for reading only, of this user.
    ///
    /// - Throws: Where the file system cannot tell, an error of `fcntl(F_SETLEASE)`.
    package func hasWriters() throws(SystemCallError) -> Bool {
        try SystemCall.negated("fcntl(F_SETLEASE)", at: path) { clinux_probe_writers(descriptor) } == 1
    }
}
