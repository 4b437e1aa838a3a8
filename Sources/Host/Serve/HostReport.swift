internal import ProgramOutput

/// Prints the events of a host. A slow or absent reader delays nothing: the oldest lines are dropped instead.
final class HostReport: Sendable {
    private struct Line: Sendable {
        let text: String
        let json: JSONObject
    }

    /// The maximum number of lines that wait to be read.
    private static let lineCount = 10_000

    private let lines: AsyncStream<Line>.Continuation
    private let printing: Task<Void, Never>

    init(to output: Output) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Line.self, bufferingPolicy: .bufferingNewest(Self.lineCount))
        lines = continuation
        printing = Task.detached {
            for await line in stream {
                // The host continues to serve without a reader.
                do { try await output.emit(text: line.text, json: line.json) } catch { return }
            }
        }
    }

    func print(_ event: HostEvent) { print(event.text, event.json) }

    func print(_ text: String, _ json: JSONObject) { lines.yield(Line(text: text, json: json)) }

    /// Returns when all lines are printed, or shortly after the reader stopped reading.
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
