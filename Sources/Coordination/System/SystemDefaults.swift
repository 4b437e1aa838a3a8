public import CoreAPI
internal import Mailboxes
public import Platform

// The parts of the machine that a participant uses by default. The files of this folder and those of `Loop` are the
// only ones of the module that use `Platform`; the others build without it.

extension CoordinationEnvironment {
    /// Makes an environment of this machine. Each given argument replaces a part of it.
    public init(
        clock: any TimeSource = SystemClock(), processes: any ProcessControl = LocalProcessControl(),
        witness: (any Witness)? = nil, seed: UInt64 = .random(in: .min ... .max), push: Push? = .ofProcess
    ) {
        self.init(withoutSystem: clock, processes: processes, seed: seed)
        self.witness = witness
        self.push = push
        system.participants = { ParticipantThread.shared }
        system.namespace = ProcessIdentity.currentNamespace
        system.ownNamespace = { $0.ownNamespace }
        system.batons = LocalBatonTransport()
        system.place = { FailPoint.hit($0) }
    }
}

/// The thread of the process on which only the participants run: an owner answers challenges even
/// while the application's tasks block every thread of the cooperative pool.
///
/// It is both the executor of their actors and the preferred executor of their tasks. Without that preference, a resumed
/// task would reach its actor by way of the pool.
package enum ParticipantThread {
    /// The thread, started at its first use.
    package static let shared: any TaskExecutor & SerialExecutor = ThreadExecutor(thread: "sharedcore")
}

extension Push {
    /// The push that a host has started this process for; nil in other processes, and where the variables are no push.
    public static var ofProcess: Push? { Push(variables: OwnProcess.variable) }
}

extension CoreContext {
    /// Makes a context with the machine's clock. Participants make it for their cores; tests of a core make their own.
    public init(
        store: any SharedStore, epoch: Revision, role: SessionRole, push: Push? = nil,
        acceptMessage: @escaping @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult,
        reportProblem: @escaping @Sendable (String) async -> Void
    ) {
        self.init(
            store: store, epoch: epoch, role: role, push: push, clock: SystemClock(), acceptMessage: acceptMessage,
            reportProblem: reportProblem)
    }
}

extension Calls {
    /// Reads and changes the calls of a group through an open handle, with the machine's clock.
    public init(_ store: any SharedStore) {
        self.init(store, clock: SystemClock())
    }
}

extension MainPushQueue {
    package init(
        _ store: any SharedStore, timelineCapacity: Int = Timeline.defaultCapacity
    ) throws(SharedCoreError) {
        try self.init(store, timelineCapacity: timelineCapacity, clock: SystemClock())
    }
}

extension MainParticipant {
    /// Makes a Main that takes part through an open handle, in the environment of this machine. See
    /// ``init(of:options:environment:core:)``.
    public convenience init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        core: @escaping @Sendable () -> any Core
    ) throws(SharedCoreError) {
        try self.init(of: group, options: options, environment: CoordinationEnvironment(), core: core)
    }
}

extension ExecutorParticipant {
    /// Makes an Executor that takes part through an open handle, in the environment of this machine. See
    /// ``init(of:options:environment:core:)``.
    public convenience init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        core: @escaping @Sendable () -> any Core
    ) throws(SharedCoreError) {
        try self.init(of: group, options: options, environment: CoordinationEnvironment(), core: core)
    }
}

extension HolderParticipant {
    /// Makes a holder that acts through an open handle, in the environment of this machine. See
    /// ``init(of:options:environment:woken:)``.
    public convenience init(
        of group: any SharedStore, options: CoordinationOptions = CoordinationOptions(),
        woken: (@Sendable (ProcessIdentity) async -> Void)? = nil
    ) throws(SharedCoreError) {
        try self.init(of: group, options: options, environment: CoordinationEnvironment(), woken: woken)
    }
}

extension SharedStore {
    /// Owns the core as a Main while `body` runs, in the environment of this machine. See
    /// ``withMain(options:environment:takingOver:insisting:reporting:core:_:)``.
    public func withMain<Value: Sendable>(
        options: CoordinationOptions = CoordinationOptions(), takingOver: Bool = false, insisting: Bool = false,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil, core: @escaping @Sendable () -> any Core,
        _ body: @escaping @Sendable (MainParticipant) async throws -> Value
    ) async throws -> Value {
        try await withMain(
            options: options, environment: CoordinationEnvironment(), takingOver: takingOver, insisting: insisting,
            reporting: reporting, core: core, body)
    }

    /// Takes part as an Executor while `body` runs, in the environment of this machine. See
    /// ``withExecutor(options:environment:core:_:)``.
    public func withExecutor<Value>(
        options: CoordinationOptions = CoordinationOptions(), core: @escaping @Sendable () -> any Core,
        _ body: (ExecutorParticipant) async throws -> Value
    ) async throws -> Value {
        try await withExecutor(options: options, environment: CoordinationEnvironment(), core: core, body)
    }
}
