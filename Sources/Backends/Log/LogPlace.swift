internal import CoreAPI
internal import StoreEngine

/// The position of a replica in the log.
struct LogPlace {
    /// The position of the next record that the replica does not have.
    var position: UInt64
    /// The nonce of the record before it; 0 at the beginning.
    var tail: UInt64 = 0
    /// The boot id of the group's records; nil before the first record.
    var bootID: BootID?

    /// Moves past a record.
    mutating func take(_ record: LogRecord) {
        position += 1
        tail = record.nonce
        if case .restarted(let bootID) = record.effect.body { self.bootID = bootID }
    }
}

extension StoreState {
    /// Throws unless a record is the next one of this order and follows the rules: the log is not trusted, and a stale
    /// effect must not be applied.
    mutating func requireNext(_ record: LogRecord, at place: LogPlace) throws(SharedCoreError) {
        let effect = record.effect
        guard record.previous == place.tail else {
            throw LogRecord.damaged(
                "The record at \(place.position) does not follow the one before it: the log has left records out, repeated, "
                    + "lost or replaced them.")
        }
        var next = nextRevision
        var isValid: Bool
        switch effect.body {
        case .restarted(let bootID):
            next = restarting(in: bootID, at: effect.time).revision
            isValid = bootID != place.bootID
        case .sessionOpened(let opening): isValid = opening.process.bootID == place.bootID
        case .committed(let session, _, _), .refused(let session, _, _), .sessionEnded(let session):
            isValid = hasSession(session)
        case .expired(let keys):
            isValid = keys.allSatisfy { key in entry(key)?.expiry.map { $0 <= effect.time } ?? false }
        }
        // Due expiries must be recorded before any other effect is evaluated.
        switch effect.body {
        case .restarted, .expired: break
        default: if let due = nextExpiry(), due <= effect.time { isValid = false }
        }
        guard effect.revision == next, isValid else {
            throw LogRecord.damaged(
                "The record at \(place.position) has revision \(effect.revision) and cannot follow revision \(revision)."
            )
        }
    }
}

extension Effect {
    var changesSessions: Bool {
        switch body {
        case .sessionOpened, .sessionEnded, .restarted: true
        case .committed, .refused, .expired: false
        }
    }
}
