internal import CoreAPI

/// Which registrations belong to which observer. It keeps no observer alive.
struct ObserverTable {
    private struct Record {
        weak var observer: (any AnyObject & Sendable)?
        var tokens: [NotificationToken]
    }

    private var records: [ObjectIdentifier: Record] = [:]

    /// - Returns: The registrations of observers that went away, to be let go of.
    mutating func keep(_ token: NotificationToken, for observer: any AnyObject & Sendable) -> [NotificationToken] {
        let gone = sweep()
        records[ObjectIdentifier(observer), default: Record(observer: observer, tokens: [])].tokens.append(token)
        return gone
    }

    mutating func remove(_ observer: AnyObject, forName name: NotificationName?) -> [NotificationToken] {
        let id = ObjectIdentifier(observer)
        guard let record = records[id] else { return [] }
        let removed = record.tokens.filter { name == nil || $0.name == name }
        records[id]?.tokens.removeAll { name == nil || $0.name == name }
        if records[id]?.tokens.isEmpty == true { records[id] = nil }
        return removed
    }

    /// - Returns: The registrations of observers that went away, to be let go of.
    mutating func sweep() -> [NotificationToken] {
        // Another object may have got the address of one that went away: so they go before any is looked for.
        let gone = records.filter { $0.value.observer == nil }
        for id in gone.keys { records[id] = nil }
        return gone.values.flatMap(\.tokens)
    }
}
