internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import MaildirCore
internal import TestSupport
internal import Testing

/// Scenario 24 without processes: a hundred participants in this one, such as the threads of a notification extension.
struct CrowdTests {
    enum Place: String, CaseIterable, Sendable {
        case memory, files
    }

    @Test(
        "C9, scenario 24: 100 participants of one process, one core start, 100 messages, each acknowledged once",
        .enabled(if: TestScope.isCheck),
        .timeLimit(.minutes(10)), arguments: Place.allCases)
    func burst(in place: Place) async throws {
        let post = try Post(startMilliseconds: 300)
        let space = MemorySpace()
        let callIDs = (1...100).map { "crowd-\($0)" }
        let description = SessionDescription(role: .executor)
        let witness = MemoryWitness()
        @Sendable func open(as description: SessionDescription) async throws -> any SharedGroup {
            switch place {
            case .memory: try await space.open("crowd", as: description)
            case .files: try await FileGroup.open(directory: post.group, as: description)
            }
        }
        let observer = try await open(as: SessionDescription(role: .tool))
        // The first core is there for the last of the hundred also where the machine is slow to start them.
        let options = CoordinationOptions(executorBudget: .seconds(300), coreLinger: .seconds(5))

        let starts = try await withThrowingTaskGroup(of: Int.self) { tasks in
            for callID in callIDs {
                tasks.addTask {
                    let group = try await open(as: description)
                    let executor = try ExecutorParticipant(
                        of: group, options: options, environment: CoordinationEnvironment(witness: witness)
                    ) {
                        MaildirCore(directory: post.maildir, startDelay: .milliseconds(post.startMilliseconds))
                    }
                    let answer = try await executor.message(forCallID: #require(CallID(callID)), timeout: .seconds(60))
                    guard case .message(let taken) = answer.content else {
                        Issue.record("\(callID): \(answer)")
                        return 0
                    }
                    #expect(taken.message.content.text == post.text(of: callID))
                    #expect(try await executor.acknowledge(taken))
                    await executor.finish()
                    let starts = await executor.coreStarts
                    await executor.close()
                    await group.close()
                    return starts
                }
            }
            for callID in callIDs.reversed() { try post.deliver(callID) }
            return try await tasks.reduce(0, +)
        }
        #expect(starts == 1)
        let history = try await Timeline(observer).history()
        #expect(history.records.count { $0.entry.kind == .coreStarted } == 1)
        let report = TimelineChecker.check(history)
        #expect(report.isClean, "\(report.violations)")
        #expect(report.overlaps == 0 && report.supersededOverlaps == 0)
        await observer.close()
        #expect(try post.count(in: "new") == 0)
        #expect(try post.count(in: "cur") == callIDs.count)
    }
}
