internal import CoreAPI

/// The watches and observations of this process's participants. Guarded by its owner's lock.
struct Listening {
    /// The identity of one watch or observation.
    typealias ID = UInt64

    private struct Listener {
        let prefixes: [KeyPrefix]
        let wakeChannels: WakeChannels
        let isQuiet: Bool
    }

    private var listeners: [ID: Listener] = [:]
    private var counts = [Int](repeating: 0, count: WakeChannels.count)
    private var lastID: ID = 0

    /// True if there is no listener.
    var isEmpty: Bool { listeners.isEmpty }

    /// True if no listener needs a timer, because each participant reads at an interval of its own. False without
    /// listeners.
    var isQuiet: Bool { !listeners.isEmpty && listeners.values.allSatisfy(\.isQuiet) }

    /// The prefixes that are watched.
    var prefixes: [KeyPrefix] {
        var seen: Set<KeyPrefix> = []
        return listeners.values.flatMap(\.prefixes).filter { seen.insert($0).inserted }
    }

    /// Adds a listener.
    ///
    /// - Returns: Its identity, and the wake channels that had no listener before.
    mutating func add(_ prefixes: [KeyPrefix], _ wakeChannels: WakeChannels, isQuiet: Bool) -> (
        id: ID, new: WakeChannels
    ) {
        lastID += 1
        listeners[lastID] = Listener(prefixes: prefixes, wakeChannels: wakeChannels, isQuiet: isQuiet)
        var new = WakeChannels()
        for index in wakeChannels.indices {
            if counts[index] == 0 { new.formUnion(WakeChannels(index: index)) }
            counts[index] += 1
        }
        return (lastID, new)
    }

    /// Removes a listener.
    ///
    /// - Returns: The wake channels that have no listener any more.
    mutating func remove(_ id: ID) -> WakeChannels {
        guard let listener = listeners.removeValue(forKey: id) else { return WakeChannels() }
        var silent = WakeChannels()
        for index in listener.wakeChannels.indices {
            counts[index] -= 1
            if counts[index] == 0 { silent.formUnion(WakeChannels(index: index)) }
        }
        return silent
    }
}

/// The time at which this process checks for expired entries, so that its watches receive them.
struct ExpirySchedule {
    var due: BootInstant?
    /// After an expiry that could not be recorded: the earliest time for the next try.
    var notBefore: BootInstant?
    var task: Task<Void, Never>?
}
