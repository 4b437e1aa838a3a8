public import CoreAPI
public import Platform

/// How a group in a database is opened.
public struct SQLiteGroupOptions: Sendable {
    /// What the opener relies on.
    public var requirements: Requirements
    /// The sizes that it accepts.
    public var limits: Limits
    /// The bytes of changes that it keeps for watches that fall behind.
    public var historyByteCount: Int
    /// The clock that it lives by.
    public var clock: any TimeSource
    var path = ""

    public init(
        requirements: Requirements = .none, limits: Limits = Limits(), historyByteCount: Int = 1 << 20,
        clock: any TimeSource = SystemClock()
    ) {
        self.requirements = requirements
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.clock = clock
    }

    var capabilities: Capabilities {
        Capabilities(
            backend: "sqlite", features: [.multipleProcesses, .linearizableReads, .resumableWatches, .previousValues],
            durability: .process, limits: limits)
    }
}
