/// A promise of the contract that not every backend can keep.
public struct Capability: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Several processes can be in one group.
    public static let multipleProcesses = Capability(rawValue: "multipleProcesses")
    /// The death of a process of this machine is noticed at once, not when a lease runs out (L1).
    public static let promptDeathNotice = Capability(rawValue: "promptDeathNotice")
    /// A process stopped at any instruction holds up nobody for more than 250 ms (S15).
    public static let stoppedWritersTolerated = Capability(rawValue: "stoppedWritersTolerated")
    /// Reads reflect every commit that had returned anywhere (S4).
    public static let linearizableReads = Capability(rawValue: "linearizableReads")
    /// A watch can resume from a revision (W2).
    public static let resumableWatches = Capability(rawValue: "resumableWatches")
    /// A change carries what stood there before (W1).
    public static let previousValues = Capability(rawValue: "previousValues")
    /// A retry of a numbered request gives the first result (S12).
    public static let deduplicatedRequests = Capability(rawValue: "deduplicatedRequests")

    /// Ends of sessions, releases and take-overs succeed on a full disk (S10). With files, only where a file system
    /// keeps the space that it has reserved for a file.
    public static let endingsOnFullDisk = Capability(rawValue: "endingsOnFullDisk")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}
