package import CoreAPI
package import StoreEngine
internal import Synchronization

/// A group at one revision, for a reader that is no participant.
///
/// It has no session in the order and takes no revision. All of its reads are at the same revision: to read a later
/// one, open the group again.
///
/// Source: contract L4.
package final class GroupView: SharedGroup {
    package let session: Session
    package let capabilities: Capabilities

    private let revision: Revision
    private let state: Mutex<StoreState>
    private let handle: GroupHandle
    private let location: String

    /// Makes a view of a state.
    ///
    /// - Parameters:
    ///   - state: The state of the group, without ended sessions and expired entries.
    ///   - revision: The revision of the group; nil for the state's own.
    ///   - session: The session of the reader, see ``CoreAPI/Session/reader(_:in:at:)``.
    ///   - capabilities: The capabilities of a participant of the group.
    ///   - requirements: The features that the reader relies on.
    ///   - location: The location in errors.
    /// - Throws: `unsupported` when a requirement is not met.
    package init(
        _ state: StoreState, at revision: Revision? = nil, as session: Session, capabilities: Capabilities,
        satisfying requirements: Requirements = .none, location: String
    ) throws(SharedCoreError) {
        self.session = session
        self.capabilities = capabilities.ofView
        try self.capabilities.satisfy(requirements)
        self.revision = revision ?? state.revision
        self.state = Mutex(state)
        self.handle = GroupHandle(of: nil, at: location)
        self.location = location
    }

    package func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try read { state throws(SharedCoreError) in try state.entry(key)?.entry(for: key) }
    }

    package func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try read { state throws(SharedCoreError) in
            try Snapshot(revision: self.revision, stored: state.selection([prefix]))
        }
    }

    package func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try handle.requireOpen()
        throw .readOnly(location)
    }

    package func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try handle.requireOpen()
        throw unchanging("watch")
    }

    package func sync() async throws(SharedCoreError) {
        try handle.requireOpen()
    }

    package func sessions() async throws(SharedCoreError) -> [Session] {
        try read { state in state.openSessions }
    }

    package func usage() async throws(SharedCoreError) -> StoreUsage? {
        try read { state in state.usage }
    }

    package func close() async {
        _ = handle.close()
    }

    package func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try handle.requireOpen()
        throw unchanging("observe")
    }

    package func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try read { state in state.topic(name) }
    }

    private func read<Result>(
        _ body: (inout StoreState) throws(SharedCoreError) -> sending Result
    ) throws(SharedCoreError) -> sending Result {
        try handle.requireOpen()
        return try state.withLock { state throws(SharedCoreError) in
            let isElsewhere = state.hasExternalValues
            do throws(SharedCoreError) {
                return try body(&state)
            } catch {
                // The records were valid when they were read, so this error means that a journal was replaced since.
                guard isElsewhere, error.code == .corrupt else { throw error }
                throw SharedCoreError(
                    .unavailable, "A participant has replaced the files that the group was read from. Open it again.",
                    at: location, cause: error.message)
            }
        }
    }

    private func unchanging(_ call: String) -> SharedCoreError {
        SharedCoreError(
            .unsupported,
            "A reader holds the group at one revision, which does not change. Open it as a participant to \(call).",
            at: location)
    }
}

extension Capabilities {
    /// The promises of a view of a group with these capabilities.
    fileprivate var ofView: Capabilities {
        Capabilities(
            backend: backend, features: features.intersection([.multipleProcesses, .stoppedWritersTolerated]),
            durability: durability, limits: limits)
    }
}

extension Session {
    private static let readerCount = Atomic<UInt64>(0)

    /// Returns the session of a read-only handle. It is not in the order: its number is above all revisions.
    package static func reader(
        _ description: SessionDescription, in process: ProcessIdentity, at clock: any TimeSource
    ) -> Session {
        let number = readerCount.wrappingAdd(1, ordering: .relaxed).newValue
        return Session(
            id: SessionID(rawValue: .max - number),
            process: ProcessIdentity(bootID: clock.bootID, pid: process.pid, startTime: process.startTime),
            role: description.role, name: description.name, openedAt: clock.now())
    }
}

extension SharedCoreError {
    /// Returns the error of a write by a reader.
    package static func readOnly(_ location: String) -> SharedCoreError {
        SharedCoreError(
            .forbidden, "The group was opened to read only. Open it as a participant to write.", at: location)
    }

    /// Returns the error of a reader that opens a group before any participant.
    package static func unopened(_ location: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable,
            "There is no group here, or no participant has opened it since the machine was started. A reader opens none.",
            at: location)
    }
}
