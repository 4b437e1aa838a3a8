internal import Coordination
internal import CoreAPI
internal import InMemoryBackend
internal import Platform
internal import ProgramOutput
internal import Testing

@testable internal import SharedCoreHost

@Suite("A timeline that was saved (contract C15)")
struct SavedTimelineTests {
    /// A timeline without its oldest entries, which were dropped, of an owner that changes its state.
    private func trimmedHistory() async throws -> TimelineHistory {
        let group = try await MemorySpace().open("saved", as: SessionDescription(role: .main, name: "writer"))
        let timeline = Timeline(group, capacity: 16)
        let clock = SystemClock()
        func append(_ kind: TimelineEntry.Kind, _ epoch: Revision? = nil, to: OwnerState? = nil) async throws
            -> Revision
        {
            var transaction = Transaction()
            let entry = TimelineEntry(
                kind, by: group.session, epoch: epoch, from: kind == .stateChanged ? .starting : nil, to: to,
                previous: nil, bound: .milliseconds(500), reason: "a “reason”\nof two lines", at: clock.now(),
                bootID: clock.bootID)
            try timeline.append(entry, to: &transaction)
            return try await group.commit(transaction).revision
        }
        let epoch = try await append(.acquired, to: .starting)
        for _ in 0..<20 { _ = try await append(.problem) }
        #expect(try await timeline.trim())
        _ = try await append(.stateChanged, epoch, to: .running)
        _ = try await append(.coreStarted, epoch)
        let history = try await timeline.history()
        await group.close()
        return history
    }

    private func lines(of history: TimelineHistory) -> [String] {
        let line = TimelineLine(clock: WallTime())
        return (history.checkpoint.map { [line.json($0).line] } ?? []) + history.damages.map { line.json($0).line }
            + history.records.map { line.json($0).line }
    }

    @Test("A timeline that was saved and read again proves the same, from the same checkpoint on")
    func same() async throws {
        let history = try await trimmedHistory()
        let checkpoint = try #require(history.checkpoint)
        let saved = try SavedTimeline(lines(of: history).joined(separator: "\n") + "\n", in: "file")
        #expect(saved.histories.count == 1)
        #expect(saved.histories.first?.records == history.records)
        #expect(saved.histories.first?.checkpoint == checkpoint)
        #expect(saved.report == TimelineChecker.check(history))
        #expect(saved.report.isClean && saved.report.unprovedThrough == checkpoint.through)
    }

    @Test("Without its checkpoint a trimmed timeline proves nothing, because its first owner is unknown")
    func withoutCheckpoint() async throws {
        let lines = lines(of: try await trimmedHistory())
        let saved = try SavedTimeline(lines.dropFirst().joined(separator: "\n"), in: "file")
        #expect(saved.report.violations.map(\.rule).contains(.c4))
    }

    @Test("A gap in what was followed begins a new stretch; what each shows to be broken is told")
    func gap() async throws {
        let history = try await trimmedHistory()
        let damage = Violation(.c15, at: Revision(rawValue: 3), "The entry cannot be read.")
        let line = TimelineLine(clock: WallTime())
        let text = ([line.json(damage).line] + lines(of: history)).joined(separator: "\n")
        let saved = try SavedTimeline(text, in: "file")
        #expect(saved.histories.count == 2)
        #expect(saved.report.violations == [damage])
        #expect(saved.report.unprovedThrough == history.checkpoint?.through)
    }

    @Test("A line that is none is told with its place")
    func junk() async throws {
        let good = try #require(lines(of: try await trimmedHistory()).last)
        for junk in ["{", "{}", good.replacing("coreStarted", with: "cor"), good.replacing("bootID", with: "boot")] {
            #expect(throws: CommandFailure.self) { try SavedTimeline(good + "\n" + junk, in: "name") }
            do throws(CommandFailure) {
                _ = try SavedTimeline(good + "\n" + junk, in: "name")
            } catch {
                #expect(error.status == .usage && error.message?.hasPrefix("name:2: ") == true)
            }
        }
    }
}
