public import CoreAPI
public import Platform
internal import StoreEngine

/// How a participant uses a group in files.
public struct FileGroupOptions: Sendable {
    /// The access of the handle.
    public var access: Access
    /// The failure that a commit survives once it has returned: ``Durability/process`` or ``Durability/disk``.
    public var durability: Durability
    /// The sizes that the group accepts from this participant.
    public var limits: Limits
    /// The bytes of memory for changes that are kept for watches that resume or fall behind.
    public var historyByteCount: Int
    /// The features that the caller relies on.
    public var requirements: Requirements
    /// The clock by which entries expire, and the boot of the machine to which its times belong.
    public var clock: any TimeSource
    /// The bytes of memory for the latest effects, which a hub sends to its clients; zero keeps none.
    package var effectByteCount = 0
    /// The condition under which the file system is tested before the group relies on its reports of writes.
    package var wakeUpTrial = WakeUpSource.Trial.unlessKnown

    public init(
        durability: Durability = .process, limits: Limits = Limits(), historyByteCount: Int = 256 << 10,
        requirements: Requirements = .none, clock: any TimeSource = SystemClock(), access: Access = .participant
    ) {
        self.access = access
        self.durability = durability
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.requirements = requirements
        self.clock = clock
    }
}

extension FileGroupOptions {
    /// The access of a handle to a group.
    public enum Access: Hashable, Sendable {
        /// All that the contract promises: the handle is a participant with a session.
        case participant
        /// Reads only. The handle has no session in the order, is not among the group's sessions and writes to no file,
        /// so a user with read permission on the directory and its files is enough.
        ///
        /// The handle cannot write, and it has three further limitations. No process can wake it, so it polls at an
        /// interval, see ``Capabilities/wakeUp``. It cannot record the end of a dead participant's session or the
        /// expiry of an entry, so its watches receive those after a participant has recorded them. It cannot open a
        /// group that no participant has opened since the machine was started.
        case readOnly
    }
}

extension Limits {
    /// Refuses limits beyond the size of a record of the journal: an accepted value of that size would make every
    /// compaction fail.
    func requireRecordable() throws(SharedCoreError) {
        let most = StoreState.maximumTransactionByteCount
        for (what, byteCount) in [("value", valueByteCount), ("transaction", transactionByteCount)]
        where byteCount > most {
            throw SharedCoreError(
                .invalidArgument, "In files a \(what) has at most \(most) bytes, so the limit cannot be \(byteCount).",
                at: "limits")
        }
    }
}
