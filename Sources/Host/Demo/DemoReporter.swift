internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// Reports the run of the demo: sentences with the seconds since its beginning, or JSON events.
struct DemoReporter: Sendable {
    let output: Output

    private let clock = SystemClock()
    private let beginning: BootInstant
    private let line = TimelineLine(clock: WallTime())

    init(output: Output) {
        self.output = output
        beginning = clock.now()
    }

    /// Prints that a new act begins.
    func act(_ title: String) async throws {
        try await output.emit(lines: ["", "── \(title)"], json: ["event": "act", "title": .text(title)])
    }

    /// Prints an action of the demo itself.
    func tell(_ sentence: String) async throws {
        try await output.emit(
            text: stamp(clock.now()) + "→ " + sentence, json: ["event": "step", "text": .text(sentence)])
    }

    /// Prints a new entry of the timeline.
    func tell(_ record: TimelineRecord) async throws {
        try await output.emit(
            text: stamp(record.entry.at) + "  " + ValueText.oneLine(record.entry.describe()),
            json: ["event": "timeline", "entry": .object(line.json(record))])
    }

    /// Prints the line of an Executor.
    func tell(_ report: ExecutorLine, of name: String) async throws {
        let source = report.source == "core" ? "from its own core" : "from the inbox"
        let sentence =
            switch report.event {
            case "message": "✓ \(name) got “\(report.text ?? "")” \(source) after \(report.elapsedMs) ms"
            case "nothing": "✓ \(name) has nothing to show, after \(report.elapsedMs) ms"
            default: "✗ \(name): \(report.event) after \(report.elapsedMs) ms"
            }
        try await output.emit(
            text: stamp(clock.now()) + ValueText.oneLine(sentence),
            json: [
                "event": "executor", "name": .text(name), "result": .text(report.event),
                "callID": .text(report.callID), "text": .optional(report.text), "from": .optional(report.from),
                "source": .optional(report.source), "coreStarts": .integer(Int64(report.coreStarts)),
                "elapsedMs": .natural(report.elapsedMs),
            ])
    }

    /// Returns the seconds since the beginning, to the millisecond.
    private func stamp(_ instant: BootInstant) -> String {
        let milliseconds = beginning.duration(to: instant).wholeMilliseconds
        let fraction = String(milliseconds % 1000)
        let zeros = String(repeating: "0", count: 3 - fraction.count)
        let text = "\(milliseconds / 1000).\(zeros)\(fraction)"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text + "  "
    }
}
