public import CoreAPI

/// What a case needs of the group that a harness makes for it. What is nil is the backend's own.
public struct GroupSettings: Sendable {
    /// The clock that the group lives by.
    public var clock: (any TimeSource)?
    /// The sizes that it accepts.
    public var limits: Limits?
    /// The bytes of changes that it keeps for watches that fall behind. Where it is nil, cases expect that a few hundred
    /// KiB are kept.
    public var historyByteCount: Int?

    public init(clock: (any TimeSource)? = nil, limits: Limits? = nil, historyByteCount: Int? = nil) {
        self.clock = clock
        self.limits = limits
        self.historyByteCount = historyByteCount
    }
}
