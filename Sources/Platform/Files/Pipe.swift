internal import CLinux
internal import Glibc

/// A pipe between processes.
package struct Pipe: Sendable {
    /// The end to read from.
    package let output: OpenFile
    /// The end to write to. The reader sees the end of the stream when no process has this end any more.
    package let input: OpenFile

    package init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        _ = try SystemCall.negated("pipe2", at: "pipe") { clinux_pipe(&ends) }
        output = OpenFile(owning: ends[0], path: "pipe")
        input = OpenFile(owning: ends[1], path: "pipe")
    }
}

extension OpenFile {
    /// The number of bytes of a stream that can be read without waiting.
    package var waitingByteCount: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Reads the bytes that have arrived in a stream; none at its end. Blocks until there are some.
    package func readPart(upTo count: Int) throws(SystemCallError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = try SystemCall.run("read", at: path) { Glibc.read(descriptor, &buffer, count) }
        return Array(buffer[..<received])
    }

    /// Duplicates this process's standard error, for another process.
    package static func standardError() throws(SystemCallError) -> OpenFile {
        let number = try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: "standard error") {
            clinux_duplicate(STDERR_FILENO, 3)
        }
        return OpenFile(owning: number, path: "standard error")
    }

    /// Writes to a stream. Blocks.
    package func writeStream(_ bytes: [UInt8]) throws(SystemCallError) {
        var done = 0
        while done < bytes.count {
            done += try SystemCall.run("write", at: path) {
                bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
        }
    }

    /// Makes every write append to the end of the file.
    package func appendOnly() throws(SystemCallError) {
        try SystemCall.negated("fcntl(F_SETFL)", at: path) { clinux_append_only(descriptor) }
    }
}
