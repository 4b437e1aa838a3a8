public import CoreAPI

/// What a keep-alive knows, to be kept while nobody runs it: plain values, and bytes for a store or a file.
///
/// Calls that were under way are not in it: whoever ran them is gone, so their intervals are due again.
///
/// Source: contract P4.
public struct KeepAliveRecord: Hashable, Sendable {
    /// A handler.
    public struct Handler: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its interval, in nanoseconds.
        public var interval: Int64
        /// Where its first window begins, in nanoseconds since the machine started; may be negative.
        public var origin: Int64
        /// The window that it ran in last.
        public var ranIn: Int64
    }

    /// A registration. Times are nanoseconds since the machine started.
    public struct Registration: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// How long it is valid when it is fresh, in nanoseconds.
        public var lifetime: Int64
        /// When it lapses.
        public var lapsesAt: UInt64
        /// When traffic came on its connection last.
        public var provenAt: UInt64?
    }

    /// The run of the machine that the times count in: its two words.
    public var bootID: [UInt64]
    /// The handlers.
    public var handlers: [Handler]
    /// The registrations.
    public var registrations: [Registration]

    /// The run of the machine that the times count in.
    public var boot: BootID? {
        bootID.count == 2 ? BootID(high: bootID[0], low: bootID[1]) : nil
    }
}
