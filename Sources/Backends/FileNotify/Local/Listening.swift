internal import CoreAPI

/// The watches and observations of this process's participants. Guarded by its owner's lock.
struct Listening {
    /// The identity of one watch or observation.
    typealias ID = UInt64

    private struct Listener {
        let prefixes: [KeyPrefix]
        let bells: Bells
        let isQuiet: Bool
    }

    private var listeners: [ID: Listener] = [:]
    private var counts = [Int](repeating: 0, count: Bells.count)
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
    mutating func add(_ prefixes: [KeyPrefix], _ bells: Bells, isQuiet: Bool) -> (id: ID, new: Bells) {
        lastID += 1
        listeners[lastID] = Listener(prefixes: prefixes, bells: bells, isQuiet: isQuiet)
        var new = Bells()
        for index in bells.indices {
            if counts[index] == 0 { new.formUnion(Bells(index: index)) }
            counts[index] += 1
        }
        return (lastID, new)
    }

    /// Removes a listener.
    ///
    /// - Returns: The wake channels that have no listener any more.
    mutating func remove(_ id: ID) -> Bells {
        guard let listener = listeners.removeValue(forKey: id) else { return Bells() }
        var silent = Bells()
        for index in listener.bells.indices {
            counts[index] -= 1
            if counts[index] == 0 { silent.formUnion(Bells(index: index)) }
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
