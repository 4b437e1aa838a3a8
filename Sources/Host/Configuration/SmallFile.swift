internal import Glibc
internal import Platform

/// Reads a file that a person named: a regular file, or a pipe such as the shell's `<(...)`.
enum SmallFile {
    /// Opens a file, also behind a symbolic link.
    static func open(_ path: String) throws(SystemCallError) -> OpenFile {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open", number: errno, at: path) }
        return OpenFile(owning: descriptor, path: path)
    }

    /// The file's first bytes, at most `count`.
    static func read(_ path: String, upTo count: Int) throws(SystemCallError) -> [UInt8] {
        try read(open(path), upTo: count)
    }

    /// The first bytes of a file that was opened just now, at most `count`.
    static func read(_ file: OpenFile, upTo count: Int) throws(SystemCallError) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while content.count < count {
            let wanted = min(buffer.count, count - content.count)
            let received = Glibc.read(file.descriptor, &buffer, wanted)
            if received < 0 {
                let number = errno
                if number == EINTR { continue }
                throw SystemCallError("read", number: number, at: file.path)
            }
            if received == 0 { break }
            content += buffer[..<received]
        }
        return content
    }
}
