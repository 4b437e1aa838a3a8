internal import Glibc
internal import Platform

/// The message that is being read now: a symbolic link in `tmp`, which names its file.
///
/// It is there only while the message is read, so what a new core finds was being read when a process ended. A link is
/// made and removed in one step each and leads nowhere; a commit in the group would take a hundred times as long, and a
/// process that is killed in it would be blamed on the message.
extension Maildir {
    /// As seen from `new`.
    private static let mark = "../tmp/sharedcore-reading"

    /// Reads a message, marked as being read.
    ///
    /// Where the file system takes no link, as when it is full, nothing is marked: then a message that ends this
    /// process is not found out.
    func marking<Value>(_ name: FileName, while read: () -> Value) -> Value {
        let isMarked = name.withCString { symlinkat($0, new.descriptor, Self.mark) == 0 }
        defer { if isMarked { unmark() } }
        return read()
    }

    /// The message that a process was reading when it ended; nil where there was none.
    func markedName() throws(SystemCallError) -> FileName? {
        var bytes = [UInt8](repeating: 0, count: FileName.maximumByteCount + 1)
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { readlinkat(new.descriptor, Self.mark, $0, buffer.count) } ?? -1
            }
        }
        guard count < 0 else { return FileName(Array(bytes[..<count])) }
        let number = errno
        // What else may stand there is left alone.
        guard number != ENOENT, number != EINVAL else { return nil }
        throw SystemCallError("readlinkat", number: number, at: path + "/tmp")
    }

    /// Removes the mark.
    func unmark() {
        unlinkat(new.descriptor, Self.mark, 0)
    }
}
