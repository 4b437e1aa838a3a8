internal import Glibc
internal import Platform
internal import ProgramOutput

/// Standard output, a line at a time: JSON for programs or text for people.
///
/// Writing happens on a thread of its own, because a pipe whose reader is slow blocks.
final class Output: Sendable {
    /// Whether lines are JSON objects.
    let json: Bool

    private let thread = SerialThread(name: "output")

    init(json: Bool) {
        self.json = json
    }

    /// Prints a result in the form that was asked for.
    ///
    /// - Throws: ``OutputClosed`` when nobody reads any more.
    func emit(text: @autoclosure () -> String, json object: @autoclosure () -> JSONObject) async throws {
        try await write(Array(((json ? object().line : text()) + "\n").utf8))
    }

    /// Prints bytes as they are.
    func write(_ bytes: [UInt8]) async throws {
        do {
            try await Abandonable.run(on: thread, grace: .seconds(1)) { try StandardStream.output.write(bytes) }
        } catch let error as SystemCallError where error.number == EPIPE {
            throw OutputClosed()
        }
    }
}

/// Nobody reads standard output any more.
struct OutputClosed: Error {}
