public import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// A participant of a group with files in a directory: processes of one user on one machine share it.
///
/// ```swift
/// let group = try await FileGroup.open(directory: "/run/user/1000/chat", as: SessionDescription(role: .main))
/// try await group.put("status", Array("ready".utf8))
/// ```
///
/// Releasing the last reference ends the session, as closing does.
public final class FileGroup: SharedGroup {
    public let session: Session

    /// The promises of the group. The way in which a waiting participant is woken may change while the group is open:
    /// the system gives a user a limited number of watches.
    public var capabilities: Capabilities {
        Capabilities(
            backend: promised.backend, features: promised.features, durability: promised.durability,
            limits: promised.limits, wakeUp: local.wakeUp)
    }

    /// The threads that listen to the wake channels, so that a delivery needs one change of threads instead of two. Nil
    /// if the group does not use wake channels (see ``capabilities``), or if the system has no thread or descriptor
    /// left.
    public var deliveryExecutor: (any TaskExecutor)? {
        guard case .wakeChannels = local.wakeUpSource else { return nil }
        return (try? NotificationService.shared())?.preferredExecutor()
    }

    /// Values beyond this size are read from the journal.
    public var residentValueByteCount: Int? { ExternalValues.defaultThreshold }

    let local: LocalGroup
    let handle: GroupHandle
    let promised: Capabilities
    /// The offset of the byte in the file `sessions` that this participant keeps locked; nil for a reader.
    private let lockedByte: Int?

    private init(
        session: Session, promised: Capabilities, local: LocalGroup, lockedByte: Int?
    ) {
        self.session = session
        self.handle = GroupHandle(
            of: local.isReadOnly ? nil : session.id, at: local.directory.directory.path)
        self.promised = promised
        self.local = local
        self.lockedByte = lockedByte
    }

    deinit {
        guard !handle.isClosed else { return }
        if let lockedByte { local.abandon(session.id, lockedByte) }
    }

    /// An upper bound of the descriptors that a group has open at once: its files, those of its next journal and its
    /// wake channels (some 20), the descriptors at which its threads wait (6), and those that Swift's runtime opens
    /// when it first waits (4). It works with 24.
    private static let descriptorCount = 32

    /// Joins the group in a directory. Creates a missing directory.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the group's directory. It must belong to the caller, with mode 0700, and
    ///     must not be a symbolic link. Groups never see each other (contract S14).
    ///   - description: The participant's description of itself.
    ///   - options: How the participant uses the group.
    /// - Throws: By code:
    ///   - ``SharedCoreError/Code/unsupported`` when a requirement is not met.
    ///   - ``SharedCoreError/Code/invalidArgument`` for limits that a record of the journal does not hold (12 MiB for a
    ///     value or a transaction), and for a directory that cannot be used.
    ///   - ``SharedCoreError/Code/forbidden`` for a directory that cannot be used.
    ///   - ``SharedCoreError/Code/incompatible`` for files that cannot be read, and in a time namespace with an unusable
    ///     clock offset.
    ///   - ``SharedCoreError/Code/corrupt`` for files that cannot be read.
    ///   - ``SharedCoreError/Code/storageFull``.
    ///   - ``SharedCoreError/Code/unavailable`` when the process has fewer than 32 descriptors left; for a reader, also
    ///     when no participant has opened the group since the machine was started.
    public static func open(
        directory: String, as description: SessionDescription = SessionDescription(),
        options: FileGroupOptions = FileGroupOptions()
    ) async throws(SharedCoreError) -> FileGroup {
        try promises(of: options, on: nil).satisfy(options.requirements)
        try options.limits.requireRecordable()
        try TimeNamespace.requireKnown()
        try SpareDescriptors.require(descriptorCount, for: "A group in files", at: directory)
        let local = try await GroupRegistry.shared.group(at: directory, options: options)
        let promised = promises(of: options, on: local.directory.fileSystem)
        try promised.satisfy(options.requirements)
        if options.access == .readOnly {
            return FileGroup(
                session: .reader(description, in: .current, at: options.clock), promised: promised, local: local,
                lockedByte: nil)
        }
        if options.durability == .disk { try await local.requireTrust() }
        let (session, byte, written) = try await local.join(description)
        let group = FileGroup(
            session: session, promised: promised, local: local, lockedByte: byte)
        try await group.settle(written)
        return group
    }

    /// Opens a group to read, and leaves no trace: no session, no revision, no byte of a file. The caller needs no
    /// permission to write to the directory, as on a read-only mount. A call that writes is `forbidden`.
    ///
    /// Each call answers from one revision, never from an older one than the call before. If no participant has opened
    /// the group in this boot of the machine, or since the disk lost a part of it, the handle reads the state that the
    /// next participant would find, without sessions. It then stays at that revision, and cannot be watched.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(directory:as:options:)``; ``SharedCoreError/Code/unavailable`` when there is no group, or
    ///   only journals without the file `sessions`, which a participant creates again.
    public static func openToRead(
        directory: String, as description: SessionDescription = SessionDescription(),
        options: FileGroupOptions = FileGroupOptions()
    ) async throws(SharedCoreError) -> any SharedGroup {
        var options = options
        if !Defect.participatingReader.isPresent { options.access = .readOnly }
        do throws(SharedCoreError) {
            return try await open(directory: directory, as: description, options: options)
        } catch {
            guard error.code == .unavailable || error.code == .corrupt else { throw error }
            if let view = try await view(in: directory, as: description, options, insteadOf: error) { return view }
            return try await open(directory: directory, as: description, options: options)
        }
    }

    /// Returns the group as the next participant would restart it; nil if that participant would simply go on with it.
    private static func view(
        in directory: String, as description: SessionDescription, _ options: FileGroupOptions,
        insteadOf refusal: SharedCoreError
    ) async throws(SharedCoreError) -> GroupView? {
        try await GroupRegistry.shared.onThread { () throws(SharedCoreError) in
            let place = try GroupDirectory(path: directory, access: .readOnly)
            guard let records = try GroupStart(directory: place, options: options).records(insteadOf: refusal) else {
                return nil
            }
            var state = records.state
            let revision = state.revision
            state.apply(state.restarting(in: options.clock.bootID, at: options.clock.now()))
            return try GroupView(
                state, at: revision, as: .reader(description, in: .current, at: options.clock),
                capabilities: promises(of: options, on: place.fileSystem), satisfying: options.requirements,
                location: directory)
        }
    }

    /// Returns whether a directory contains journals, without which a group has no content. Creates nothing.
    ///
    /// An existing directory that cannot be read counts as one with journals: perhaps only this process lacks a
    /// descriptor.
    package static func holdsJournals(_ directory: String) -> Bool {
        guard let opened = try? GroupDirectory.secureDirectory(directory, access: .readOnly) else {
            return FileStatus.exists(directory)
        }
        return (try? GroupDirectory.generations(in: opened).isEmpty) != true
    }

    /// A journal of a group's directory.
    package struct JournalSize: Hashable, Sendable {
        /// Its number.
        package let generation: UInt64
        /// Its length in bytes.
        package let byteCount: Int
        /// Its space on the disk, in bytes. It is less than the length if space was freed.
        package let allocatedByteCount: Int
    }

    /// Returns the journals of a group's directory, by rising number; empty for a directory that cannot be read. One that a
    /// compaction removes meanwhile is left out. Creates nothing.
    package static func journals(in directory: String) -> [JournalSize] {
        guard let opened = try? GroupDirectory.secureDirectory(directory, access: .readOnly),
            let generations = try? GroupDirectory.generations(in: opened)
        else { return [] }
        return generations.compactMap { generation in
            let path = opened.path + "/" + GroupDirectory.journalName(generation)
            guard let presence = try? FilePresence(ofPath: path) else { return nil }
            return JournalSize(
                generation: generation, byteCount: presence.byteCount,
                allocatedByteCount: presence.allocatedByteCount)
        }
    }

    /// Returns how a participant of this user would be woken in the group of a directory; nil if only a trial, which
    /// writes, could tell. Creates nothing.
    package static func wakeUpOfParticipants(in directory: String) -> WakeUpMethod? {
        guard let opened = try? GroupDirectory.secureDirectory(directory, access: .readOnly),
            (try? opened.fileSystemKind().reportsWrites) == true,
            let page = try? OpenFile(GroupPage.fileName, in: opened, .read)
        else { return nil }
        guard let events = try? FileEvents(), (try? events.watchWrites(to: page)) != nil else { return .sharedMemory }
        return .fileEvents
    }

    /// Returns whether a directory exists at the path of a group. Creates nothing. A directory that cannot be checked
    /// counts as present: opening it reports the error.
    package static func isPresent(in directory: String) -> Bool {
        do {
            _ = try GroupDirectory.secureDirectory(directory, access: .readOnly)
            return true
        } catch {
            // A process without a free descriptor gets the same error code, so check the path itself.
            return error.code != .unavailable || FileStatus.exists(directory)
        }
    }

    /// Returns the capabilities of a handle with these options.
    ///
    /// - Parameter fileSystem: The file system of the group; nil for the capabilities on the best one.
    static func promises(of options: FileGroupOptions, on fileSystem: FileSystemKind?) -> Capabilities {
        var features: Set<Capability> = [
            .multipleProcesses, .stoppedWritersTolerated, .linearizableReads, .resumableWatches, .previousValues,
        ]
        if options.access == .participant {
            features.formUnion([.promptDeathNotice, .deduplicatedRequests])
            if fileSystem?.keepsReservedSpace ?? true { features.insert(.endingsOnFullDisk) }
        }
        return Capabilities(
            backend: "file", features: features,
            durability: options.durability == .disk ? .disk : .process, limits: options.limits, wakeUp: .fileEvents)
    }

    /// Ends the session and everything that lives with it, ends all watches and wakes all waiting tasks. Idempotent.
    public func close() async {
        guard handle.close() else { return }
        local.replica.finish(session.id, with: nil)
        if let lockedByte { await local.leave(session.id, lockedByte) }
    }

    /// Replaces the journal by one with a snapshot now, regardless of its length.
    ///
    /// - Returns: Whether this call has done it; false if another process does it or the journal has changed meanwhile.
    package func compactNow() async throws(SharedCoreError) -> Bool {
        try handle.requireOpen()
        return try await local.compaction.thread.run { [local] () throws(SharedCoreError) in try local.compact() }
    }

    /// The number of the group's present journal.
    package var generation: UInt64 { local.position.journal.generation }

    /// Waits until an answer, and the state that it depends on, survives the failure given by the durability. A refusal
    /// depends on stored state as well.
    func settle(_ written: Written) async throws(SharedCoreError) {
        guard promised.durability == .disk, !Defect.unawaitedDisk.isPresent else { return }
        try await local.settle(written)
    }
}

extension FileGroup: SessionProver {
    package func doubt(that process: ProcessIdentity, has session: SessionID) async -> String? {
        local.doubt(that: process, has: session)
    }
}
