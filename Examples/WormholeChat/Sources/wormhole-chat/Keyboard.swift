internal import Foundation

/// The lines of standard input.
enum Keyboard {
    /// Gives each line as it is typed. They are read on a thread of their own, because reading blocks.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
