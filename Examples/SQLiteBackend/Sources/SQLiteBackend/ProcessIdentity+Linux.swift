internal import CoreAPI
internal import Glibc

extension ProcessIdentity {
    /// This process.
    static func current(in bootID: BootID) -> ProcessIdentity {
        let pid = getpid()
        return ProcessIdentity(bootID: bootID, pid: pid, startTime: state(of: pid)?.startTime ?? 0)
    }

    /// Whether the process lives. A zombie is dead.
    func isAlive(in bootID: BootID) -> Bool {
        guard self.bootID == bootID, let state = Self.state(of: pid) else { return false }
        return state.startTime == startTime && state.letter != "Z"
    }

    /// Fields 3 and 22 of the process's record, which begin after the program's name in parentheses.
    private static func state(of pid: Int32) -> (letter: Substring, startTime: UInt64)? {
        guard let text = textOfFile("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let startTime = UInt64(fields[19]) else { return nil }
        return (fields[0], startTime)
    }

    /// The beginning of a small file; nil when there is none.
    private static func textOfFile(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
