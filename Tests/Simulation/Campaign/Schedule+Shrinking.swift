extension Schedule {
    /// Returns a shorter schedule that breaks the same rule: unneeded incidents are removed, and the others are made as
    /// simple as possible.
    ///
    /// - Parameter breaks: Returns whether a schedule breaks the rule.
    package func shrunk(while breaks: (Schedule) -> Bool) -> Schedule {
        var best = self
        func keep(_ candidate: Schedule) -> Bool {
            guard candidate != best, breaks(candidate) else { return false }
            best = candidate
            return true
        }
        var goesOn = true
        while goesOn {
            let before = best
            best.members.indices.reversed().forEach { number in
                _ = keep(best.without(member: number))
            }
            var size = max(1, best.incidents.count / 2)
            while size >= 1 {
                var start = 0
                while start < best.incidents.count {
                    var candidate = best
                    candidate.incidents.removeSubrange(start..<min(start + size, best.incidents.count))
                    if !keep(candidate) { start += size }
                }
                size /= 2
            }
            for (_, rate) in FaultProfile.rates + FaultProfile.ratesOfCalls where best.faultProfile[keyPath: rate] > 0 {
                var candidate = best
                candidate.faultProfile[keyPath: rate] = 0
                _ = keep(candidate)
            }
            for number in best.incidents.indices {
                for candidate in best.simpler(at: number) where keep(candidate) { break }
            }
            goesOn = best != before
        }
        return best
    }

    /// Returns the schedule without the incidents of one member, which keeps its number.
    private func without(member: Int) -> Schedule {
        var schedule = self
        schedule.incidents.removeAll { $0.member == member }
        return schedule
    }

    /// Returns schedules in which one incident is simpler or at a rounder time.
    private func simpler(at number: Int) -> [Schedule] {
        var candidates: [Schedule] = []
        func add(_ change: (inout Incident) -> Void) {
            var schedule = self
            change(&schedule.incidents[number])
            let isOrdered = schedule.incidents.indices.dropFirst().allSatisfy {
                schedule.incidents[$0 - 1].at <= schedule.incidents[$0].at
            }
            if isOrdered { candidates.append(schedule) }
        }
        for step in [1_000_000, 100_000, 1000] { add { $0.at -= $0.at % step } }
        switch incidents[number].kind {
        case .push(let member, let message, let deadline, true):
            add { $0.kind = .push(member: member, message: message, deadline: deadline, insists: false) }
        case .start(let member, true, let insists):
            add { $0.kind = .start(member: member, takingOver: false, insisting: insists) }
        case .start(let member, false, true):
            add { $0.kind = .start(member: member, takingOver: false, insisting: false) }
        case .freezeAtCommit(let member, let skipping, let duration):
            add { $0.kind = .freezeAtCommit(member: member, skipping: skipping, duration: duration / 2) }
        case .freeze(let process, let duration):
            add { $0.kind = .freeze(process: process, duration: duration / 2) }
        default: break
        }
        return candidates
    }
}
