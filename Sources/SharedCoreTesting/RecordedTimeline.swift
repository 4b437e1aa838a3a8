public import Coordination
internal import CoreAPI

/// The timeline of a simulated group's ownership, up to the moment at which it was read.
public struct RecordedTimeline: Sendable, CustomStringConvertible {
    /// The entries, the oldest first.
    public let entries: [TimelineEntry]
    /// The checker's report on them.
    public let report: CheckReport
    /// The number of older entries that were dropped.
    private let droppedCount: Int

    init(_ history: TimelineHistory) {
        entries = history.records.map(\.entry)
        report = TimelineChecker.check(history)
        droppedCount = history.checkpoint?.droppedCount ?? 0
    }

    /// Checks that the timeline has these entries in this order, each with the name of its participant. Other entries
    /// may be between them.
    ///
    /// ```swift
    /// try timeline.expect(("app", .acquired), ("push", .challenged), ("push", .tookOver))
    /// ```
    ///
    /// - Throws: ``TimelineMismatch`` with the first missing entry.
    public func expect(
        _ first: (name: String, kind: TimelineEntry.Kind), _ others: (name: String, kind: TimelineEntry.Kind)...
    ) throws {
        let steps = [first] + others
        var rest = entries[...]
        for (number, step) in steps.enumerated() {
            guard let found = rest.firstIndex(where: { $0.name == step.name && $0.kind == step.kind }) else {
                let place = number == 0 ? "" : " after “\(steps[number - 1].name)” \(steps[number - 1].kind)"
                throw mismatch("“\(step.name)” \(step.kind) is missing\(place)")
            }
            rest = rest[(found + 1)...]
        }
    }

    /// Checks that no entry has one of these kinds.
    ///
    /// - Throws: ``TimelineMismatch`` with the first such entry. Also if entries were dropped, since those are not
    ///   known: give the group's ``SimulatedGroup/options`` a larger `timelineCapacity`.
    public func expectNone(of first: TimelineEntry.Kind, _ others: TimelineEntry.Kind...) throws {
        let kinds = [first] + others
        guard droppedCount == 0 else {
            throw mismatch("\(droppedCount) entries were dropped, and their kinds are not known")
        }
        for entry in entries where kinds.contains(entry.kind) { throw mismatch(entry.describe()) }
    }

    /// Checks that no rule of ownership was broken, and that no two cores that had the right to run ran at once.
    ///
    /// - Throws: ``TimelineMismatch`` with the broken rule.
    public func expectRulesHold() throws {
        guard !report.isClean else { return }
        throw mismatch(([report.describe()] + report.violations.map(\.description)).joined(separator: "\n"))
    }

    /// The entries in sentences, each with its time in seconds after the first.
    public var description: String {
        guard let first = entries.first else { return "Nothing happened to the ownership." }
        return entries.map { entry in
            let milliseconds = first.at.duration(to: entry.at).wholeMilliseconds
            let fraction = String(1000 + milliseconds % 1000).dropFirst()
            return "\(milliseconds / 1000).\(fraction) \(entry.describe())"
        }.joined(separator: "\n")
    }

    private func mismatch(_ problem: String) -> TimelineMismatch {
        TimelineMismatch(problem: problem, timeline: description)
    }
}

extension SimulatedGroup {
    /// Returns the timeline of the ownership so far.
    public func timeline() async throws -> RecordedTimeline {
        RecordedTimeline(try await Timeline(observer()).history())
    }
}

/// A timeline does not match a test's expectation.
public struct TimelineMismatch: Error, CustomStringConvertible {
    /// The difference: a missing entry, an unexpected one, dropped entries, or broken rules.
    public let problem: String
    /// The timeline in sentences.
    public let timeline: String

    public var description: String { problem + "\n" + timeline }
}
