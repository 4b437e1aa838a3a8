internal import Coordination
internal import CoreAPI

/// Checks that every member and call has reached its goal.
extension Simulation {
    /// Returns an unmet goal after the faults have ended; nil if there is none.
    func unmetWant() -> String? {
        for call in calls where call.isWaiting && members[call.member].isAlive {
            return "C8: after the faults have ended, \(members[call.member].name) still waits for "
                + "“\(messages[call.message].callID)”"
        }
        for member in members where member.isAlive {
            if member.isStarting { return "C3: \(member.name) is still starting" }
            if member.isFinishing, !member.isMain { return "C9: \(member.name) has not finished" }
            if member.demandPolicy.isClosing { return "C5: \(member.name) has not closed" }
            guard member.machine.goal.wantsOwnership else { continue }
            guard let owner = present.owner else { return "C3: \(member.name) wants to own, and nobody does" }
            if member.isMain, owner.session != member.session, present.sleeper?.session != member.session {
                return "C3: \(member.name) wants to own and does not"
            }
            guard owner.session == member.session else { continue }
            if owner.record.state != .running { return "C1: the state of \(member.name) is \(owner.record.state)" }
        }
        if let unmet = unmetMove() { return unmet }
        if let owner = present.owner, let number = member(owner.session), members[number].isAlive {
            for message in messages where message.isHeld {
                return "C8: the core of \(members[number].name) has not fetched “\(message.callID)”"
            }
        }
        for message in messages where !message.isHeld && message.arrivedAt != nil && !message.hasExpired {
            if message.storedAt == nil { return "C8: “\(message.callID)” is lost" }
        }
        let running = cores.filter { $0.runs && !superseded.contains($0.epoch) }
        return running.count > 1 ? "C1: \(running.count) cores run" : nil
    }
}
