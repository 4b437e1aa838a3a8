#if Etcd
    public import CoreAPI
    public import Platform

    /// How a participant uses a cluster.
    public struct EtcdGroupOptions: Sendable {
        /// The prefix of all keys of all groups.
        public var prefix: String
        /// The time that a participant may be silent before its session ends, in whole seconds; etcd accepts no less
        /// than two by default.
        public var lease: Duration
        /// How long opening waits for the cluster at most; nil for as long as its calls wait, each for ``requestTimeout``.
        public var openTimeout: Duration?
        /// The time that a call waits for the cluster, through losses of connections and of the leader. A commit with
        /// an unknown outcome then is ``SharedCoreError/Code/outcomeUnknown``.
        public var requestTimeout: Duration
        /// The limits of requests.
        public var limits: Limits
        /// The bytes of memory for changes that are kept for watches that resume or fall behind.
        public var historyByteCount: Int
        /// The features that the caller relies on.
        public var requirements: Requirements
        /// The clock by which entries expire.
        public var clock: any TimeSource

        /// The limits that fit a request of 1.5 MiB, the largest that a server accepts by default.
        public static let standardLimits = Limits(valueByteCount: 1 << 20, transactionByteCount: 1_310_720)

        public init(
            prefix: String = "/sharedcore", lease: Duration = .seconds(6), openTimeout: Duration? = nil,
            requestTimeout: Duration = .seconds(10), limits: Limits = Self.standardLimits,
            historyByteCount: Int = 256 << 10, requirements: Requirements = .none, clock: any TimeSource = SystemClock()
        ) {
            self.prefix = prefix
            self.lease = lease
            self.openTimeout = openTimeout
            self.requestTimeout = requestTimeout
            self.limits = limits
            self.historyByteCount = historyByteCount
            self.requirements = requirements
            self.clock = clock
        }
    }
#endif
