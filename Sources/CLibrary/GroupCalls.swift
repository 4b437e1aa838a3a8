// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import BackendRegistry
public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// An open group, or the store of a core.
final class GroupObject: HandleObject {
    let store: any SharedStore
    /// True if the store belongs to a core, so that closing the handle leaves the store open.
    private let isBorrowed: Bool
    /// True if the group was opened for reading, so that it has no session.
    let isReadOnly: Bool
    /// The default options of the group's participants.
    let coordination: CoordinationOptions

    init(
        _ store: any SharedStore, isBorrowed: Bool = false, isReadOnly: Bool = false,
        coordination: CoordinationOptions = CoordinationOptions()
    ) {
        self.store = store
        self.isReadOnly = isReadOnly
        self.coordination = coordination
        self.isBorrowed = isBorrowed
    }

    func close() {
        guard !isBorrowed else { return }
        CallingThread.wait { [store] in await store.close() }
    }

    /// Checks that participants can take part in the group.
    ///
    /// - Throws: `forbidden` for a group that is open to read only: neither a Main nor an Executor can take part in it.
    func requireParticipant() throws(Failure) {
        guard isReadOnly else { return }
        throw Failure(.forbidden, "The group was opened to read only: no participant can take part in it.", at: "group")
    }

    /// The backends that a program can name. It is shared, so that all opens of a group in memory get the same one.
    static let registry = BackendRegistry.bundled()
}

private func group(_ handle: UInt64) throws(Failure) -> any SharedStore {
    try Handles.find(handle, as: GroupObject.self).store
}

// MARK: - The library

/// This call works in a forked child too, because a `StaticString` needs nothing of Swift's runtime. ``sc_abi`` and
/// ``sc_code_name`` are in C.
@c @implementation public func sc_version() -> UnsafePointer<CChar>? {
    UnsafeRawPointer(PackageVersion.bytes.utf8Start).assumingMemoryBound(to: CChar.self)
}

@c @implementation public func sc_close(_ handle: UInt64) -> Int32 {
    boundary(nil) { () throws(Failure) in
        if handle != 0 { try Handles.close(handle) }
        return Answer.ok
    }
}

@c @implementation public func sc_handle_bus_errors(_ error: UnsafeMutablePointer<sc_error>?)
    -> Int32
{
    boundary(error) { () throws(Failure) in
        do throws(BusErrorHandler.SystemFailure) {
            try BusErrorHandler.install()
        } catch {
            throw Failure(.system, "The handler of SIGBUS cannot be installed: error \(error.number).", at: "SIGBUS")
        }
        return Answer.ok
    }
}

// MARK: - The session

@c @implementation public func sc_session(
    _ group: UInt64, _ session: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(session, "session")
        result.pointee = 0
        let object = try Handles.find(group, as: GroupObject.self)
        guard !object.isReadOnly else { return Answer.nothing }
        result.pointee = object.store.session.id.rawValue
        return Answer.ok
    }
}

@c @implementation public func sc_sync(_ group: UInt64, _ error: UnsafeMutablePointer<sc_error>?) -> Int32 {
    boundary(error) { () throws(Failure) in
        let store = try CLibrary.group(group)
        try wait { () async throws(SharedCoreError) in try await store.sync() }
        return Answer.ok
    }
}

// MARK: - Entries

@c @implementation public func sc_get(
    _ group: UInt64, _ key: UnsafePointer<CChar>?, _ keyCount: Int, _ entry: UnsafeMutablePointer<sc_entry>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(entry, "entry")
        result.pointee = sc_entry()
        let store = try CLibrary.group(group)
        let key = try CLibrary.key(key, keyCount)
        guard let found = try wait(for: { () async throws(SharedCoreError) in try await store.get(key) }) else {
            return Answer.nothing
        }
        var block = Block(size: found.blockByteCount)
        result.pointee = block.entry(found)
        return Answer.ok
    }
}

@c @implementation public func sc_entry_free(_ entry: UnsafeMutablePointer<sc_entry>?) {
    guard let entry, !ForkedChild.isCurrent else { return }
    Block.free(entry.pointee.key)
    entry.pointee = sc_entry()
}

@c @implementation public func sc_list(
    _ group: UInt64, _ prefix: UnsafePointer<CChar>?, _ prefixCount: Int,
    _ list: UnsafeMutablePointer<sc_list_result>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(list, "list")
        result.pointee = sc_list_result()
        let store = try CLibrary.group(group)
        let prefix = try CLibrary.prefix(prefix, prefixCount)
        let snapshot = try wait { () async throws(SharedCoreError) in try await store.list(prefix) }
        let stride = MemoryLayout<sc_entry>.stride
        var block = Block(size: snapshot.entries.reduce(0) { $0 + stride + $1.blockByteCount })
        let entries = block.array(of: sc_entry.self, count: snapshot.entries.count)
        for (index, entry) in snapshot.entries.enumerated() { entries[index] = block.entry(entry) }
        result.pointee.revision = snapshot.revision.rawValue
        result.pointee.count = snapshot.entries.count
        result.pointee.entries = UnsafePointer(entries)
        return Answer.ok
    }
}

@c @implementation public func sc_list_free(_ list: UnsafeMutablePointer<sc_list_result>?) {
    guard let list, !ForkedChild.isCurrent else { return }
    Block.free(list.pointee.entries)
    list.pointee = sc_list_result()
}

@c @implementation public func sc_put(
    _ group: UInt64, _ key: UnsafePointer<CChar>?, _ keyCount: Int, _ value: UnsafePointer<UInt8>?,
    _ valueCount: Int, _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try commit(
            Transaction(operations: [
                .put(try CLibrary.key(key, keyCount), try bytes(value, valueCount, "value"), .persistent)
            ]), to: group, revision)
    }
}

@c @implementation public func sc_delete(
    _ group: UInt64, _ key: UnsafePointer<CChar>?, _ keyCount: Int, _ revision: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try commit(Transaction(operations: [.delete(try CLibrary.key(key, keyCount))]), to: group, revision)
    }
}

@c @implementation public func sc_commit(
    _ group: UInt64, _ guards: UnsafePointer<sc_guard>?, _ guardCount: Int, _ operations: UnsafePointer<sc_operation>?,
    _ operationCount: Int, _ requestNumber: UInt64, _ revision: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        var transaction = try transaction(guards, guardCount, operations, operationCount)
        transaction.requestNumber = requestNumber == 0 ? nil : requestNumber
        return try commit(transaction, to: group, revision)
    }
}

/// Reads the guards and the operations of a commit.
func transaction(
    _ guards: UnsafePointer<sc_guard>?, _ guardCount: Int, _ operations: UnsafePointer<sc_operation>?,
    _ operationCount: Int
) throws(Failure) -> Transaction {
    var transaction = Transaction()
    for each in try elements(guards, guardCount, "guards") { transaction.guards.append(try read(each)) }
    for each in try elements(operations, operationCount, "operations") {
        transaction.operations.append(try read(each))
    }
    return transaction
}

private func read(_ condition: sc_guard) throws(Failure) -> Transaction.Guard {
    let key = try key(condition.key, condition.key_count)
    switch Int(condition.kind) {
    case Int(SC_GUARD_ABSENT): return .absent(key)
    case Int(SC_GUARD_EXISTS): return .exists(key)
    case Int(SC_GUARD_REVISION): return .revision(key, Revision(rawValue: condition.revision))
    case Int(SC_GUARD_EPOCH): return .epoch(key, Revision(rawValue: condition.revision))
    default: throw Failure(.invalidArgument, "There is no guard \(condition.kind).", at: "guards")
    }
}

private func read(_ operation: sc_operation) throws(Failure) -> Transaction.Operation {
    switch Int(operation.kind) {
    case Int(SC_PUT):
        return .put(
            try key(operation.key, operation.key_count), try bytes(operation.value, operation.value_count, "value"),
            try lifetime(operation.lifetime_kind, operation.lifetime))
    case Int(SC_DELETE): return .delete(try key(operation.key, operation.key_count))
    case Int(SC_DELETE_PREFIX): return .deletePrefix(try prefix(operation.key, operation.key_count))
    case Int(SC_POST): return .post(try name(operation.key, operation.key_count), state: nil)
    case Int(SC_POST_STATE): return .post(try name(operation.key, operation.key_count), state: operation.state)
    default: throw Failure(.invalidArgument, "There is no operation \(operation.kind).", at: "operations")
    }
}

private func commit(
    _ transaction: Transaction, to handle: UInt64, _ revision: UnsafeMutablePointer<UInt64>?
) throws(Failure) -> Int32 {
    let store = try group(handle)
    let commit = try wait { () async throws(SharedCoreError) in try await store.commit(transaction) }
    revision?.pointee = commit.revision.rawValue
    return Answer.ok
}

// MARK: - Notifications

@c @implementation public func sc_post(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ nameCount: Int, _ state: UnsafePointer<UInt64>?,
    _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try commit(
            Transaction(operations: [.post(try CLibrary.name(name, nameCount), state: state?.pointee)]), to: group,
            revision)
    }
}

/// Returns the notifier of a group.
///
/// - Throws: `unsupported` for the store of a core.
func notifier(_ handle: UInt64) throws(Failure) -> any CrossProcessNotifier {
    guard let notifier = try group(handle) as? any CrossProcessNotifier else {
        throw Failure(
            .unsupported, "A core's group has no observations: use the group of its participant.", at: "group")
    }
    return notifier
}

@c @implementation public func sc_state(
    _ group: UInt64, _ name: UnsafePointer<CChar>?, _ nameCount: Int, _ state: UnsafeMutablePointer<sc_notification>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(state, "state")
        result.pointee = sc_notification()
        let notifier = try notifier(group)
        let name = try CLibrary.name(name, nameCount)
        let state = try wait { () async throws(SharedCoreError) in try await notifier.state(of: name) }
        result.pointee.state = state.state
        result.pointee.count = state.count
        result.pointee.revision = state.revision.rawValue
        result.pointee.origin = state.origin?.rawValue ?? 0
        return Answer.ok
    }
}
