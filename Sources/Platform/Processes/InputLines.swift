internal import Glibc
internal import Synchronization

/// The lines of the standard input.
///
/// `readLine()` is not used: after many signals, a program was found to spin for ever in its `getdelim`.
package struct InputLines {
    private var bytes: [UInt8] = []

    package init() {}

    /// Returns the next line, without its terminator; nil at the end of the input. A last line without a terminator is
    /// dropped. Blocks.
    package mutating func next() -> String? {
        var searched = 0
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            searched = bytes.count
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}

/// The lines of the standard input for tasks: a thread waits for them.
package final class AwaitedInputLines: Sendable {
    private let lines = Mutex(InputLines())
    private let thread = SerialThread(name: "input")

    package init() {}

    /// Returns the next line as ``InputLines/next()`` does.
    package func next() async -> String? {
        await thread.run { self.lines.withLock { $0.next() } }
    }
}
