public import CoreAPI

/// The state of each application of a group, published in the group for other processes to read and watch.
///
/// A process publishes the state of its application, and others read it. Readers are, for example, a Host, a status
/// command, or a program that shows an alert only if the user does not see the application. A published state ends with
/// its session.
///
/// ```swift
/// let states = ApplicationStates(store)
/// try await states.set(.background)
/// for try await overview in try await states.watch() { print(overview.isAnyInForeground) }
/// ```
///
/// Source: contract P1, P2.
public struct ApplicationStates: Sendable {
    /// The path of the states in the store, with one entry for each session that has published a state.
    static let path: KeyPrefix = ".sharedcore/application-states/"

    private let store: any SharedStore

    public init(_ store: any SharedStore) {
        self.store = store
    }

    /// Publishes the state of this process's application.
    ///
    /// - Returns: The revision from which on all participants read it.
    @discardableResult
    public func set(_ state: ApplicationState) async throws(SharedCoreError) -> Revision {
        try await store.put(key(), Array(state.rawValue.utf8), lifetime: .session).revision
    }

    /// Publishes the state of another process's application, as a Host does for one that does not publish it.
    ///
    /// - Returns: The revision from which on all participants read it; nil if there is no such session.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the application has published its state itself, which counts
    ///   until it clears it.
    @discardableResult
    public func set(_ state: ApplicationState, of session: SessionID) async throws(SharedCoreError) -> Revision? {
        if session == store.session.id { return try await set(state) }
        while true {
            // List the entries before the sessions, so that a session that opens and publishes in between does not
            // count as ended.
            let entries = try await store.list(Self.path).entries
            let sessions = Set(try await store.sessions().map(\.id))
            guard sessions.contains(session) else { return nil }
            let transaction = try Self.transaction(saying: state, of: session, after: entries, in: sessions)
            do throws(SharedCoreError) {
                return try await store.commit(transaction).revision
            } catch {
                // Another process has published a state in between, so read again and retry.
                guard let failure = error.guardFailure, transaction.guards.contains(failure.condition) else {
                    throw error
                }
            }
        }
    }

    /// Removes this process's report.
    public func clear() async throws(SharedCoreError) {
        try await store.delete(key())
    }

    /// Returns the published states of all applications.
    public func all() async throws(SharedCoreError) -> ApplicationOverview {
        let snapshot = try await store.list(Self.path)
        return try await ApplicationOverview(revision: snapshot.revision, entries: snapshot.entries, in: store)
    }

    /// Returns the published states, now and after every change. A slow consumer misses the states in between, never
    /// the last one. The end of a process with a state published by another one shows with the next change.
    public func watch() async throws(SharedCoreError) -> ApplicationStateWatch {
        ApplicationStateWatch(try await store.watch([Self.path], from: .snapshot), in: store)
    }

    /// Returns the transaction that publishes a state. It fails if another state was published since the entries were
    /// listed. It also removes the states of ended sessions.
    private static func transaction(
        saying state: ApplicationState, of session: SessionID, after entries: [Entry], in sessions: Set<SessionID>
    ) throws(SharedCoreError) -> Transaction {
        let key = try key(of: session)
        let current = entries.first { $0.key == key }
        guard current?.origin != session else {
            throw SharedCoreError(
                .guardFailed, "The application of session \(session) has set its state itself.", at: key.text,
                guardFailure: GuardFailure(index: 0, condition: .absent(key), found: current))
        }
        var transaction = Transaction(guards: [current.map { .revision(key, $0.revision) } ?? .absent(key)])
        for entry in entries {
            guard let statement = ApplicationReport(entry), !statement.isOwn, !sessions.contains(statement.session)
            else { continue }
            transaction.require(.revision(entry.key, entry.revision))
            transaction.delete(entry.key)
        }
        transaction.put(key, Array(state.rawValue.utf8))
        return transaction
    }

    private func key() throws(SharedCoreError) -> Key {
        try Self.key(of: store.session.id)
    }

    private static func key(of session: SessionID) throws(SharedCoreError) -> Key {
        try Key(path.path + session.description)
    }
}

/// The state of an application, as published by a process.
public struct ApplicationReport: Hashable, Sendable {
    /// The session of the application; ``SharedStore/sessions()`` tells its role, its name and its process.
    public let session: SessionID
    /// The published state.
    public let state: ApplicationState
    /// The revision at which it was published.
    public let revision: Revision
    /// True if the application's own session published the state; false if another session did on its behalf.
    public let isOwn: Bool

    /// Reads the report in an entry; nil for one that this version does not understand.
    init?(_ entry: Entry) {
        guard let text = String(validating: entry.value, as: UTF8.self), let state = ApplicationState(rawValue: text),
            let session = UInt64(entry.key.text.dropFirst(ApplicationStates.path.path.count))
        else { return nil }
        self.session = SessionID(rawValue: session)
        self.isOwn = self.session == entry.origin
        self.state = state
        self.revision = entry.revision
    }
}
