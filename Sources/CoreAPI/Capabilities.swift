/// The promises of an open group.
public struct Capabilities: Hashable, Sendable {
    /// The backend's name, for people.
    public let backend: String
    /// The features that the backend provides.
    public let features: Set<Capability>
    /// The failures that a commit survives.
    public let durability: Durability
    /// The largest values, transactions and stores that the group accepts.
    public let limits: Limits
    /// How a participant that waits is woken.
    public let wakeUp: WakeUpMethod

    public init(
        backend: String, features: Set<Capability>, durability: Durability, limits: Limits,
        wakeUp: WakeUpMethod = .direct
    ) {
        self.backend = backend
        self.features = features
        self.durability = durability
        self.limits = limits
        self.wakeUp = wakeUp
    }

    /// Refuses requirements that the backend does not meet. A backend calls it when a group is opened.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported``, naming every requirement that is not met.
    public func satisfy(_ requirements: Requirements) throws(SharedCoreError) {
        var missing = requirements.features.subtracting(features).map(\.rawValue).sorted()
        if let required = requirements.durability, durability < required {
            missing.append("durability \(required.rawValue)")
        }
        guard missing.isEmpty else {
            throw SharedCoreError(
                .unsupported, "The backend \(backend) does not promise: \(missing.joined(separator: ", ")).",
                at: backend)
        }
    }
}

/// A feature of the contract that not every backend provides.
public struct Capability: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Several processes can be in one group.
    public static let multipleProcesses = Capability(rawValue: "multipleProcesses")
    /// The backend detects the death of a process on this machine at once, and does not wait for the end of a lease
    /// (L1). A Main can rest only with this feature (C26).
    public static let promptDeathNotice = Capability(rawValue: "promptDeathNotice")
    /// A process stopped at any instruction delays no other for more than 250 ms (S15).
    public static let stoppedWritersTolerated = Capability(rawValue: "stoppedWritersTolerated")
    /// Reads reflect every commit that had returned anywhere (S4).
    public static let linearizableReads = Capability(rawValue: "linearizableReads")
    /// A watch can resume from a revision (W2).
    public static let resumableWatches = Capability(rawValue: "resumableWatches")
    /// A change carries the entry before it (W1).
    public static let previousValues = Capability(rawValue: "previousValues")
    /// A retry of a numbered request gives the first result (S12).
    public static let deduplicatedRequests = Capability(rawValue: "deduplicatedRequests")

    /// Ends of sessions, releases and take-overs succeed on a full disk (S10). With files, only if the file system
    /// guarantees the space that it has reserved for a file.
    public static let endingsOnFullDisk = Capability(rawValue: "endingsOnFullDisk")

    /// The bytes of a baton can move between processes of two machines (C25).
    public static let batonBytes = Capability(rawValue: "batonBytes")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}

/// The failures that a commit survives once it has returned.
///
/// Source: contract S10.
public enum Durability: String, Hashable, Sendable, Comparable, CaseIterable {
    /// None: data is lost with this process's memory.
    case memory
    /// The death of any process.
    case process
    /// The loss of power.
    case disk

    public static func < (left: Durability, right: Durability) -> Bool {
        func rank(_ durability: Durability) -> Int {
            switch durability {
            case .memory: 0
            case .process: 1
            case .disk: 2
            }
        }
        return rank(left) < rank(right)
    }
}

/// The sizes that a store accepts. A request beyond one is refused with ``SharedCoreError/Code/limitExceeded``.
///
/// Source: contract S10.
public struct Limits: Hashable, Sendable {
    /// The bytes of the largest value.
    public var valueByteCount: Int
    /// The bytes of the keys and values of the largest transaction.
    public var transactionByteCount: Int
    /// The bytes of all keys and values of the store.
    public var storeByteCount: Int
    /// The maximum number of entries in the store. This limits the memory for entries, and the cost of a request that
    /// touches every entry.
    public var entryCount: Int

    public init(
        valueByteCount: Int = 1 << 20, transactionByteCount: Int = 4 << 20, storeByteCount: Int = 64 << 20,
        entryCount: Int = 1 << 20
    ) {
        self.valueByteCount = valueByteCount
        self.transactionByteCount = transactionByteCount
        self.storeByteCount = storeByteCount
        self.entryCount = entryCount
    }
}

/// The way in which a waiting participant learns of new commits. The order of commits does not depend on it; it decides
/// how late a participant may learn of a commit.
///
/// Source: contract N9.
public enum WakeUpMethod: Hashable, Sendable {
    /// By a call within the process: no wake-up is lost.
    case direct
    /// By the system's events on files. If a poster is killed before it has woken any observer, the observers still
    /// learn of the post at once.
    case fileEvents
    /// By a futex word in shared memory. If a poster is killed before it has woken any observer, the observers learn of
    /// the post within 10 s, or within 250 ms if they wait with a deadline.
    case sharedMemory
    /// By polling: a participant learns of a commit up to this duration later.
    case polling(every: Duration)
}

/// A caller's requirements of a group. A backend that cannot meet them refuses at open.
public struct Requirements: Hashable, Sendable {
    /// No requirement beyond the contract's common part.
    public static let none = Requirements()

    /// The features that the backend must provide.
    public var features: Set<Capability>
    /// The failures that a commit must survive at least; nil if any durability is enough.
    public var durability: Durability?

    public init(features: Set<Capability> = [], durability: Durability? = nil) {
        self.features = features
        self.durability = durability
    }
}
