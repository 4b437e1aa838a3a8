import CoreAPI
import CoreAPITesting
import Glibc
import Mailboxes
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Coordination

/// The thread of the participants.
@Suite(.serialized)
struct ParticipantThreadTests {
    /// Acts on the participants' thread, so that nothing here needs the pool.
    private actor Caller {
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            ParticipantThread.shared.asUnownedSerialExecutor()
        }

        /// Takes every thread of the pool until the flag is raised, then calls.
        ///
        /// Should nothing come of it, the pool is let go after 20 s and the test fails instead of standing still. A plain
        /// thread looks at intervals, because waiting for a condition would need the pool that is taken here.
        func withoutPool<Value: Sendable>(
            until isOver: OneWayFlag, else giveUp: @escaping @Sendable () -> Void = {},
            _ body: @Sendable () async throws -> Value
        ) async throws -> Value {
            defer { isOver.raise() }
            try OwnedThread.start("test") {
                waitOnThread(atMost: .seconds(20)) { isOver.isRaised }
                giveUp()
                isOver.raise()
            }
            let blockers = Blockers(isOver: isOver)
            // Each priority has threads of its own; those of this task are the ones that count.
            blockers.start(64, at: Task.currentPriority)
            // Nothing here may suspend, because a resume needs the pool.
            while blockers.runningCount < sysconf(Int32(_SC_NPROCESSORS_ONLN)) { sched_yield() }
            return try await body()
        }

        /// Challenges and waits for the answer.
        func challenge(_ claim: Revision, in store: any SharedStore) async throws -> Bool {
            let watch = try await store.watch([KeyPrefix(OwnershipKey.answer)], from: .now)
            let isOver = OneWayFlag()
            return try await withoutPool(until: isOver) {
                watch.cancel()
            } _: {
                let commit = try await store.put(OwnershipKey.challenge, ChallengeRecord(claim: claim).bytes)
                guard case .changes(let changes) = try await watch.next(), !isOver.isRaised else { return false }
                return changes.changes.contains { change in
                    change.new.map { AnswerRecord(bytes: $0.value).challenge == commit.revision } == true
                }
            }
        }

        /// Waits for a message that never comes.
        ///
        /// - Returns: The error that ended it while the pool was taken.
        func miss(_ executor: ExecutorParticipant) async throws -> CoordinationError.Code? {
            let callID = try #require(CallID("never"))
            let isOver = OneWayFlag()
            return try await withoutPool(until: isOver) {
                do throws(CoordinationError) {
                    _ = try await executor.message(
                        forCallID: callID, timeout: .milliseconds(300))
                    return nil
                } catch {
                    return isOver.isRaised ? nil : error.code
                }
            }
        }
    }

    /// Tasks that hold threads of the cooperative pool until they are told not to.
    private final class Blockers: Sendable {
        private let isOver: OneWayFlag
        private let running = Atomic(0)

        init(isOver: OneWayFlag) {
            self.isOver = isOver
        }

        var runningCount: Int { running.load(ordering: .acquiring) }

        func start(_ count: Int, at priority: TaskPriority) {
            for _ in 0..<count {
                Task.detached(executorPreference: globalConcurrentExecutor, priority: priority) { [self] in
                    running.add(1, ordering: .acquiringAndReleasing)
                    while !isOver.isRaised { sched_yield() }
                }
            }
        }
    }

    @Test("C6: an owner answers while the application holds every thread of the cooperative pool")
    func ownerAnswersWithoutThePool() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let epoch = try #require(await main.participant.epoch)
        let observer = try await world.observer()

        let isAnswered = try await withTaskExecutorPreference(ParticipantThread.shared) {
            try await Caller().challenge(epoch, in: observer)
        }
        #expect(isAnswered)
    }

    @Test("C7: a deadline passes while the application holds every thread of the cooperative pool")
    func deadlinePassesWithoutThePool() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()

        let code = try await withTaskExecutorPreference(ParticipantThread.shared) {
            try await Caller().miss(executor.participant)
        }
        #expect(code == .timeout)
    }
}
