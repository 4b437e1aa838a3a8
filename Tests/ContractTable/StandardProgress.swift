internal import Glibc

/// Standard error, where the progress goes.
enum StandardProgress {
    static func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // There is nobody left to tell when this fails.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
