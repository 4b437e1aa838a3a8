/// Standard error, for messages to people.
package enum StandardError {
    package static func write(_ line: String) {
        // There is nobody left to tell when this fails.
        try? StandardStream.error.write(Array((line + "\n").utf8))
    }
}
