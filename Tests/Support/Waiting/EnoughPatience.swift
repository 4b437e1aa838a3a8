internal import CoreAPITesting
internal import Foundation

/// Calls `body` with a timeout of a second, and with four times as much until a program that it starts has written a
/// file within the first half of it. The time that a program takes to get there is a matter of the machine.
///
/// - Returns: The value of the last call, and the timeout that was enough.
package func withEnoughTime<Value>(
    toWrite file: String, _ body: (Duration) async throws -> Value
) async throws -> (value: Value, timeout: Duration) {
    var timeout = Duration.seconds(1)
    while true {
        try? FileManager.default.removeItem(atPath: file)
        let begin = Date.now
        let value = try await body(timeout)
        let written = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        if let written, written.timeIntervalSince(begin) * 2 < Double(timeout.components.seconds) {
            return (value, timeout)
        }
        guard timeout < TestTimeout.long else { throw NotWritten(file: file) }
        timeout *= 4
    }
}

/// A program that has not written its file in any time.
private struct NotWritten: Error {
    let file: String
}
