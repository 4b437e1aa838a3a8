internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import TestSupport

/// The inbox of a core under test: keeps each delivered message once for each identifier, and fails when told to.
final class TestInbox: Sendable {
    /// The failure of a delivery; nil when it succeeds.
    typealias Failure = @Sendable (InboxMessage) -> SharedCoreError?

    private let stored = Box<[InboxMessage]>([])
    private let accepted = Box<[CoreContext.DeliveryResult]>([])
    private let problems = Box<[String]>([])
    private let attempted = Box(0)
    private let failure: Box<Failure>
    /// The group that the core is given.
    let store: any SharedStore
    private let role: SessionRole
    private let beforeReturning: @Sendable (InboxMessage) async -> Void

    /// - Parameters:
    ///   - role: The role of the core's participant. An Executor's takes no message that no participant waits for.
    ///   - beforeReturning: Runs in each delivery when the message is stored and the core does not know it yet.
    init(
        limits: Limits = Limits(), role: SessionRole = .main, failing: @escaping Failure = { _ in nil },
        beforeReturning: @escaping @Sendable (InboxMessage) async -> Void = { _ in },
        through interpose: (any SharedStore) -> any SharedStore = { $0 }
    ) async throws {
        store = interpose(try await MemorySpace(limits: limits).open("maildir", as: SessionDescription(role: role)))
        failure = Box(failing)
        self.role = role
        self.beforeReturning = beforeReturning
    }

    /// The stored messages, in their order.
    var messages: [InboxMessage] { stored.value }
    /// The identifiers of the stored messages.
    var callIDs: [String] { messages.map(\.callID.text) }
    /// The results of the deliveries that succeeded.
    var acceptances: [CoreContext.DeliveryResult] { accepted.value }
    /// The reported problems.
    var reports: [String] { problems.value }
    /// The number of begun deliveries.
    var attempts: Int { attempted.value }

    func content(of callID: String) -> InboxMessage.Content? {
        messages.first { $0.callID.text == callID }?.content
    }

    /// Decides from now on which deliveries fail.
    func fail(_ failing: @escaping Failure) {
        failure.update { $0 = failing }
    }

    var context: CoreContext {
        CoreContext(
            store: store, epoch: Revision(rawValue: 1), role: role,
            acceptMessage: { [self] message throws(SharedCoreError) in try await accept(message) },
            reportProblem: { [problems] problem in problems.update { $0.append(problem) } })
    }

    private func accept(_ message: InboxMessage) async throws(SharedCoreError) -> CoreContext.DeliveryResult {
        attempted.update { $0 += 1 }
        if let error = failure.value(message) { throw error }
        let acceptance: CoreContext.DeliveryResult = stored.update { stored in
            if stored.contains(where: { $0.callID == message.callID }) { return .duplicate }
            stored.append(message)
            return .stored
        }
        await beforeReturning(message)
        accepted.update { $0.append(acceptance) }
        return acceptance
    }
}
