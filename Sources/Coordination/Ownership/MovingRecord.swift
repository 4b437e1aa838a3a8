package import CoreAPI

extension OwnershipKey {
    /// The record of the batons with which the owner's activities move.
    package static let moving: Key = ".sharedcore/ownership/moving"
    /// The kinds of batons that the author of the request takes.
    package static let takes: Key = ".sharedcore/ownership/takes"
}

/// The batons with which activities move. Lives with the owner's session.
///
/// It is separate from ``ActivitiesRecord``, so that programs of earlier releases can read the activities. Each item
/// belongs to the activity with the same epoch, kind, id and beginning, and has no effect if there is no such activity.
///
/// Source: contract C25.
package struct MovingRecord: StoredRecord {
    package struct Item: Hashable, Sendable {
        /// The kind of the activity.
        package var kind: String
        package var id: String
        package var begun: BootInstant
        /// The kind of the baton.
        package var baton: String
        package var need: BatonNeed
    }

    /// The ownership under which the activities were begun.
    package var epoch: Revision
    /// The reach of the owner.
    package var reach: OwnReach
    package var items: [Item]

    /// Makes the record of the activities that move.
    ///
    /// - Parameter activities: The owner's activities. Those that do not move get no item.
    package init(epoch: Revision, reach: OwnReach, activities: [Activity]) {
        self.epoch = epoch
        self.reach = reach
        items = activities.compactMap { activity in
            activity.moves.map {
                Item(kind: activity.kind.name, id: activity.id, begun: activity.begun, baton: $0, need: activity.needs)
            }
        }
    }

    package static let unreadable = MovingRecord(epoch: .zero, reach: .machine, activities: [])

    /// Returns an activity of an ownership, as the group has it, with the baton with which it moves.
    func joined(_ activity: Activity, of epoch: Revision) -> Activity {
        guard self.epoch == epoch, let item = items.first(where: { $0.isAbout(activity) }) else { return activity }
        var joined = activity
        joined.moves = item.baton
        joined.needs = item.need
        return joined
    }
}

extension MovingRecord.Item {
    fileprivate func isAbout(_ activity: Activity) -> Bool {
        activity.isWork(named: kind, id: id) && begun == activity.begun
    }
}

extension MovingRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        guard let reach = OwnReach(rawValue: try reader.byte()) else { throw .malformed }
        self.reach = reach
        let count = try reader.byte()
        guard count <= ActivitiesRecord.maximumCount else { throw .malformed }
        items = []
        for _ in 0..<count {
            let (kind, id, begun) = (try reader.text(), try reader.text(), try reader.instant())
            let baton = try reader.text()
            guard Baton.isKind(baton), let need = BatonNeed(rawValue: try reader.byte()) else { throw .malformed }
            items.append(Item(kind: kind, id: id, begun: begun, baton: baton, need: need))
        }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.byte(reach.rawValue)
        writer.byte(UInt8(clamping: items.count))
        for item in items {
            writer.text(item.kind)
            writer.text(item.id)
            writer.instant(item.begun)
            writer.text(item.baton)
            writer.byte(item.need.rawValue)
        }
    }
}

/// The batons that the author of a request takes. Lives with the session of the Main that asks.
///
/// It is separate from ``HandoverRecord``, so that programs of earlier releases can read the request. It is written
/// only in the commit of a request.
///
/// Source: contract C25.
package struct TakesRecord: StoredRecord {
    /// The reach of the author.
    package var reach: OwnReach
    package var kinds: [String]

    package init(reach: OwnReach, kinds: [String]) {
        self.reach = reach
        self.kinds = kinds
    }

    package static let unreadable = TakesRecord(reach: .machine, kinds: [])
}

extension TakesRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        guard let reach = OwnReach(rawValue: try reader.byte()) else { throw .malformed }
        self.reach = reach
        kinds = try reader.array { reader throws(ByteCodingError) in try reader.text() }
        guard 1...Baton.maximumKindCount ~= kinds.count, kinds.allSatisfy(Baton.isKind) else { throw .malformed }
    }

    package func write(into writer: inout ByteWriter) {
        writer.byte(reach.rawValue)
        writer.array(kinds) { $0.text($1) }
    }
}

extension Standing<TakesRecord> {
    /// Returns true if the author of a request wrote this record in the commit of the request. A record that is left
    /// over belongs to no request.
    func isAbout(_ handover: Standing<HandoverRecord>) -> Bool {
        session == handover.session && revision == handover.claim
    }
}
