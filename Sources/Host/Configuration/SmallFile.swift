internal import Glibc
internal import Platform

/// Reads a file that a person named: a regular file, or a pipe such as the shell's `<(...)`.
enum SmallFile {
    /// The file's first bytes, at most `count`.
    static func read(_ path: String, upTo count: Int) throws(SystemCallError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open", number: errno, at: path) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while content.count < count {
            let wanted = min(buffer.count, count - content.count)
            let received = Glibc.read(descriptor, &buffer, wanted)
            if received < 0 {
                let number = errno
                if number == EINTR { continue }
                throw SystemCallError("read", number: number, at: path)
            }
            if received == 0 { break }
            content += buffer[..<received]
        }
        return content
    }
}
