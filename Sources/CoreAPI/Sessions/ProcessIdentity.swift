/// One process of one run of one machine. A bare process id is used again; this is not.
///
/// Source: contract L2.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The run of the machine.
    public let bootID: BootID
    /// The process id.
    public let pid: Int32
    /// When the process started, in clock ticks since the machine did; 0 where that cannot be known.
    public let startTime: UInt64

    public init(bootID: BootID, pid: Int32, startTime: UInt64) {
        self.bootID = bootID
        self.pid = pid
        self.startTime = startTime
    }

    public var description: String { String(pid) }
}
