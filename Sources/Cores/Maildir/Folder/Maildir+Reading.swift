internal import CoreAPI
internal import Glibc
internal import Platform

/// The message that is being read now: a symbolic link in `tmp`, which names the process that reads and the message's
/// file, `PID START-TIME NAMESPACE NAME`.
///
/// It is there only while the message is read, so what a new core finds was being read when a process ended, unless that
/// process lives: then another core is at work on the folder. A link is made and removed in one step each and leads
/// nowhere; a commit in the group would take a hundred times as long, and a process that is killed in it would be blamed
/// on the message.
extension Maildir {
    /// As seen from `new`.
    private static let mark = "../tmp/sharedcore-reading"

    /// Reads a message, marked as being read.
    ///
    /// Where the file system takes no link, as when it is full, or another core has its mark there, nothing is marked:
    /// then a message that ends this process is not found out.
    func marking<Value>(_ name: FileName, while read: () -> Value) -> Value {
        let target = Self.markTarget(of: name, readBy: .current, in: ProcessIdentity.currentNamespace)
        let isMarked = target.withCString { symlinkat($0, new.descriptor, Self.mark) == 0 }
        defer { if isMarked { unmark() } }
        return read()
    }

    /// Where the mark of a process leads.
    static func markTarget(
        of name: FileName, readBy process: ProcessIdentity, in namespace: UInt64
    ) -> FileName {
        FileName(Array("\(process.pid) \(process.startTime) \(namespace) ".utf8) + name.bytes)
    }

    /// The message that a process was reading when it ended; nil where there was none, or the process lives.
    func markedName() throws(SystemCallError) -> FileName? {
        var bytes = [UInt8](repeating: 0, count: FileName.maximumByteCount + 64)
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { readlinkat(new.descriptor, Self.mark, $0, buffer.count) } ?? -1
            }
        }
        guard count < 0 else { return Self.name(in: bytes[..<count]) }
        let number = errno
        // What else may stand there is left alone.
        guard number != ENOENT, number != EINVAL else { return nil }
        throw SystemCallError("readlinkat", number: number, at: path + "/tmp")
    }

    private static func name(in target: ArraySlice<UInt8>) -> FileName? {
        let words = target.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        let numbers = words.prefix(3).compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        guard words.count == 4, numbers.count == 3, let pid = Int32(exactly: numbers[0]) else { return nil }
        // A number of another namespace says nothing here: containers come and go with theirs.
        if numbers[2] == ProcessIdentity.currentNamespace, numbers[2] != 0, let reader = ProcessIdentity(of: pid),
            reader.startTime == numbers[1], reader.liveness == .alive
        {
            return nil
        }
        return FileName(Array(words[3]))
    }

    /// Removes the mark.
    func unmark() {
        unlinkat(new.descriptor, Self.mark, 0)
    }
}
