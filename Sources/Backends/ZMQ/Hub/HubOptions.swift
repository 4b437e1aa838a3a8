public import CoreAPI
public import FileNotifyBackend
public import InMemoryBackend

/// How a hub serves a group.
public struct HubOptions: Sendable {
    /// The storage behind the hub.
    public enum Storage: Sendable {
        /// The memory of this process: the group is gone with the hub.
        case memory(MemorySpace)
        /// A directory, which the processes of this machine may also use directly.
        case files(directory: String, FileGroupOptions)

        var isMemory: Bool { if case .memory = self { true } else { false } }
    }

    /// The shortest lease: a hub checks leases four times a second.
    public static let shortestLease = Duration.seconds(1)

    /// The least ``clientMemory``: one request of the largest size, the subscriptions, and 2 MiB each for answers and
    /// updates.
    public static let leastClientMemory = ClientMemory.least

    /// The group's name. A client that asks for another group is refused.
    public var group: String
    public var storage: Storage
    /// The endpoints at which the hub listens.
    public var endpoints: [HubEndpoint]
    /// The keys for endpoints at a port. Without them, no endpoint may be a port.
    public var keys: CurveHubKeys?
    /// How long the session of a client on another machine lasts without a message. A session keeps the lease with
    /// which it was opened.
    public var lease: Duration
    /// The bytes of memory for the latest effects. A client that was away for longer receives the whole state.
    public var effectByteCount: Int
    /// The bytes of memory that the hub may take for one client over a network: for its requests, for answers and
    /// updates that it has not received, and for its subscriptions. One answer is sent whole regardless of its size. At
    /// least ``leastClientMemory``.
    public var clientMemory = ClientMemory.standard
    /// Called with each refusal at the hub's endpoints: once per connection, and at most ten times a second. Must
    /// return at once.
    public var onRefusal: (@Sendable (SharedCoreError) -> Void)?
    /// Called once when the files of the hub's group were removed, moved or replaced: every request is refused with this
    /// error from then on. Stop the hub, so that clients connect to the next one. Must return at once.
    public var onFailure: (@Sendable (SharedCoreError) -> Void)?
    /// When an idle connection at a port is closed. Tests shorten it.
    var times = ConnectionTimes()
    /// The largest answer that is sent. Tests lower it.
    var answerByteLimit = Wire.answerByteLimit

    public init(
        group: String, storage: Storage, endpoints: [HubEndpoint], keys: CurveHubKeys? = nil,
        lease: Duration = .seconds(6), effectByteCount: Int = 4 << 20,
        onRefusal: (@Sendable (SharedCoreError) -> Void)? = nil
    ) {
        self.group = group
        self.storage = storage
        self.endpoints = endpoints
        self.keys = keys
        self.lease = lease
        self.effectByteCount = effectByteCount
        self.onRefusal = onRefusal
    }
}
