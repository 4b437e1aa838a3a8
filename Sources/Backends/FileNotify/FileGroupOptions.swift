public import CoreAPI
public import Platform
internal import StoreEngine

/// How a participant uses a group in files.
public struct FileGroupOptions: Sendable {
    /// What the handle may do.
    public var access: Access
    /// What a commit survives once it has returned: ``Durability/process`` or ``Durability/disk``.
    public var durability: Durability
    /// The sizes that the group accepts from this participant.
    public var limits: Limits
    /// The bytes of memory for changes that are kept for watches that resume or fall behind.
    public var historyByteCount: Int
    /// What the caller relies on.
    public var requirements: Requirements
    /// The clock by which entries expire, and the run of the machine that it counts in.
    public var clock: any TimeSource
    /// The bytes of memory for the latest effects, which a hub brings to its clients; zero keeps none.
    package var effectByteCount = 0
    /// Whether the file system is tried out before its reports of writes are relied on.
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
    /// What a handle may do with a group.
    public enum Access: Hashable, Sendable {
        /// All that the contract promises: the handle is a participant with a session.
        case participant
        /// To look only. The handle has no session in the order, is not among the group's sessions and writes to no
        /// file, so it also works for a user who may only read the directory and its files.
        ///
        /// What it gives up, beside writing: nobody can wake it, so it looks at an interval, see
        /// ``Capabilities/wakeUp``; it cannot record that a dead participant's session is over or that an entry has
        /// expired, so its watches hear of that when a participant has; and it cannot open a group that nobody has
        /// opened since the machine was started.
        case readOnly
    }
}

extension Limits {
    /// Refuses limits that promise what a record of the journal does not hold: a value that was accepted would be in the
    /// way of every compaction.
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
