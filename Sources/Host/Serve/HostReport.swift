internal import ProgramOutput

/// Prints what happens at a host. A reader that is slow, or absent, holds up nothing: then the oldest lines are left
/// out.
final class HostReport: Sendable {
    private struct Line: Sendable {
        let text: String
        let json: JSONObject
    }

    /// The most lines that wait to be read.
    private static let lineCount = 10_000

    private let lines: AsyncStream<Line>.Continuation
    private let printing: Task<Void, Never>

    init(to output: Output) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Line.self, bufferingPolicy: .bufferingNewest(Self.lineCount))
        lines = continuation
        printing = Task.detached {
            for await line in stream {
                // The reader has gone: that is no reason not to serve.
                do { try await output.emit(text: line.text, json: line.json) } catch { return }
            }
        }
    }

    func print(_ event: HostEvent) { print(event.text, event.json) }

    func print(_ text: String, _ json: JSONObject) { lines.yield(Line(text: text, json: json)) }

    /// Returns when all is printed, or after a moment in which it is not read.
    func finish() async {
        lines.finish()
        let end = Task {
            try await Task.sleep(for: .seconds(2))
            printing.cancel()
        }
        await printing.value
        end.cancel()
    }
}
