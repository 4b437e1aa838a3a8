public import CoreAPI
public import Platform

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
    package var hearingTrial = Hearing.Trial.unlessKnown

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
