public import CoreAPI

/// How a participant reaches a hub.
public struct ZMQGroupOptions: Sendable {
    /// What the caller relies on.
    public var requirements: Requirements
    /// The bytes of memory for changes that are kept for watches that resume or fall behind.
    public var historyByteCount: Int
    /// How long opening waits for a hub; nil waits without an end.
    public var openTimeout: Duration?
    /// How long a request waits for its answer, through losses of the connection. A commit whose answer does not come
    /// is ``SharedCoreError/Code/outcomeUnknown``.
    public var requestTimeout: Duration
    /// The keys of a connection to a port; others have none.
    public var keys: CurveClientKeys?
    /// How a hub is started when there is none; nil does not start any.
    public var launcher: HubLauncher?
    /// When a hub at a port that is silent is given up. Tests shorten it.
    var times = ConnectionTimes()

    public init(
        requirements: Requirements = .none, historyByteCount: Int = 256 << 10, openTimeout: Duration? = .seconds(5),
        requestTimeout: Duration = .seconds(10), keys: CurveClientKeys? = nil, launcher: HubLauncher? = nil
    ) {
        self.requirements = requirements
        self.historyByteCount = historyByteCount
        self.openTimeout = openTimeout
        self.requestTimeout = requestTimeout
        self.keys = keys
        self.launcher = launcher
    }
}
