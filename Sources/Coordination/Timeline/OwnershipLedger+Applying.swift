internal import CoreAPI

extension OwnershipLedger {
    /// How long a challenge may be unanswered before the holder counts as silent (contract C6).
    package static let answerBound = Duration.milliseconds(500)

    /// Adds a record and returns the rules that it breaks. The ledger then accepts the record's content, so that one
    /// fault is reported only once.
    package mutating func apply(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        var broken: [Violation] = []
        func breaks(_ rule: Violation.Rule, _ sentence: String) {
            broken.append(Violation(rule, at: record.revision, sentence))
        }

        if endedSessions.contains(entry.participant) {
            breaks(
                .c5,
                "Session \(entry.participant) wrote “\(entry.describe())” after its ownership was said to have "
                    + "ended with it.")
        }
        switch entry.kind {
        case .asked: ask(entry)
        case .acquired: broken += acquire(record)
        case .tookOver: broken += takeOver(record)
        case .stateChanged: broken += changeState(record)
        case .released: broken += release(record)
        case .killed: broken += kill(record)
        case .refused:
            // A refusal without an owner came from another Main's request, and is valid under any owner.
            if entry.role == .main, let owner, owner.role == .executor, owner.epoch == entry.other {
                breaks(.c3, "A Main was refused because the Executor of epoch \(owner.epoch) owned.")
            }
            requests[entry.participant] = nil
        case .coreStarted: broken += startCore(record)
        case .coreStopped:
            if let epoch = entry.epoch { cores[epoch] = nil }
        case .rested, .woken, .resumed: broken += applyRest(record)
        case .coreGivenUp:
            if let failure = failureOfWake(record) { broken.append(failure) }
            if let epoch = entry.epoch {
                cores[epoch] = nil
                supersede(epoch)
            }
        case .overlap, .supersededOverlap: countOverlap(entry)
        case .challenged:
            if let other = entry.other, other == owner?.epoch, challenges[other] == nil {
                // The entry is written with the take-over. Earlier releases wrote no bound, and the time of the
                // challenge itself.
                let waited = (entry.bound ?? .zero).clampedNanoseconds
                let at = BootInstant(nanoseconds: entry.at.nanoseconds - min(entry.at.nanoseconds, waited))
                challenges[other] = Moment(at: at, bootID: entry.bootID)
            }
        case .batonOffered, .batonApplied, .batonFailed, .batonExpired: broken += moveBaton(record)
        case .fenced, .problem, .pushHandled, .pushEnded, .pushForgotten, .operated, .unknown: break
        }
        return broken
    }

    private mutating func ask(_ entry: TimelineEntry) {
        requests[entry.participant] = Request(
            moment: Moment(at: entry.at, bootID: entry.bootID), bound: entry.bound ?? .zero)
        if requests.count > Self.memory, let oldest = requests.min(by: { $0.value.moment.at < $1.value.moment.at }) {
            requests[oldest.key] = nil
        }
    }

    /// Applies an acquisition, which is valid only without an owner.
    private mutating func acquire(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        var broken: [Violation] = []
        if let owner {
            if let previous = entry.previous, previous.epoch == owner.epoch, previous.end == .sessionEnded {
                // If another participant acquires, and no entry says that the core at rest was given up, then the
                // resting Main has ended as well.
                if let sleeper = owner.sleeper, sleeper != entry.participant, cores[owner.epoch] != nil {
                    end(session: sleeper)
                }
                end(owner)
                if owner.hasLease { supersede(owner.epoch) }
            } else if let previous = entry.previous, previous.epoch == owner.epoch {
                broken.append(
                    Violation(
                        .c5, at: record.revision,
                        "Epoch \(owner.epoch) is said to have ended (\(previous.end)), but nothing on the timeline "
                            + "ended it."))
            } else if entry.role == .executor, owner.role == .main {
                broken.append(
                    Violation(
                        .c2, at: record.revision,
                        "An Executor (session \(entry.participant)) acquired while the Main of epoch \(owner.epoch) "
                            + "owned."))
            } else {
                broken.append(
                    Violation(
                        .c1, at: record.revision,
                        "Session \(entry.participant) acquired while session \(owner.participant) owned with epoch "
                            + "\(owner.epoch)."))
            }
        }
        return broken + install(record)
    }

    /// Applies a take-over: it must name the present owner, and the timeline must show its cause.
    private mutating func takeOver(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        var broken: [Violation] = []
        func breaks(_ rule: Violation.Rule, _ sentence: String) {
            broken.append(Violation(rule, at: record.revision, sentence))
        }

        guard let owner, let previous = entry.previous, previous.epoch == owner.epoch else {
            breaks(
                .c5,
                "Session \(entry.participant) took over from epoch "
                    + "\(entry.previous.map { "\($0.epoch)" } ?? "unknown"), but "
                    + (owner.map { "epoch \($0.epoch) owned." } ?? "there was no owner."))
            return broken + install(record)
        }
        switch previous.end {
        case .unanswered:
            if let challenge = challenges[owner.epoch] {
                if let elapsed = challenge.elapsed(until: entry), elapsed < Self.answerBound {
                    breaks(.c6, "Epoch \(owner.epoch) was taken over \(elapsed) after it was challenged.")
                }
            } else {
                breaks(.c6, "Epoch \(owner.epoch) was taken over as frozen without an unanswered challenge.")
            }
        case .deadlinePassed:
            if entry.role != .main || owner.role != .executor {
                breaks(.c5, "A \(entry.role) took over from a \(owner.role) by a deadline that only a Main can set.")
            }
            if let failure = deadlineFailure(for: entry) { breaks(.c3, failure) }
        case .replaced:
            if entry.role != .main || owner.role != .main {
                breaks(.c5, "A \(entry.role) replaced a \(owner.role); only a second Main replaces a Main.")
            }
            if requests[entry.participant] == nil {
                breaks(.c14, "The Main of epoch \(owner.epoch) was replaced without having been asked.")
            }
        case .released, .sessionEnded:
            breaks(.c5, "Epoch \(owner.epoch) was taken over without a cause.")
        }
        supersede(owner.epoch)
        return broken + install(record)
    }

    private mutating func changeState(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        guard var owner, owner.epoch == entry.epoch, owner.participant == entry.participant else {
            return [notOwner(record, did: "changed the owner's state")]
        }
        var broken: [Violation] = []
        if let from = entry.from, from != owner.state {
            broken.append(
                Violation(
                    .c1, at: record.revision,
                    "The owner of epoch \(owner.epoch) says that it was \(from), but it was \(owner.state)."))
        }
        if let next = entry.to {
            if !owner.state.maybeFollowed(by: next) {
                broken.append(
                    Violation(
                        .c1, at: record.revision,
                        "The owner of epoch \(owner.epoch) went from \(owner.state) to \(next)."))
            }
            owner.state = next
            self.owner = owner
        }
        return broken
    }

    private mutating func release(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        guard let owner, owner.epoch == entry.epoch else {
            return [notOwner(record, did: "released the core", breaking: .c5)]
        }
        var broken: [Violation] = []
        if owner.participant != entry.participant {
            broken.append(
                Violation(
                    .c5, at: record.revision,
                    "Session \(entry.participant) released epoch \(owner.epoch), which belongs to session "
                        + "\(owner.participant)."))
        }
        if cores[owner.epoch] != nil {
            broken.append(
                Violation(
                    .c3, at: record.revision, "Epoch \(owner.epoch) was released while its core still ran."))
        }
        challenges[owner.epoch] = nil
        self.owner = nil
        return broken
    }

    /// Applies an entry about a baton: none may follow the end of that baton.
    private mutating func moveBaton(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        let isApplied = entry.kind == .batonApplied
        guard let epoch = isApplied || entry.kind == .batonFailed ? entry.other : entry.epoch else { return [] }
        var broken: [Violation] = []
        if isApplied, owner?.epoch != entry.epoch || owner?.participant != entry.participant {
            broken.append(notOwner(record, did: "applied a baton", breaking: .c25))
        }
        // Any participant can write the record of a baton that has failed.
        if endedBatons.contains(epoch), entry.kind != .batonFailed {
            broken.append(
                Violation(
                    .c25, at: record.revision,
                    "Session \(entry.participant) wrote “\(entry.describe())”, but the baton of epoch \(epoch) was over."
                ))
        }
        guard entry.kind != .batonOffered else { return broken }
        endedBatons.append(epoch)
        endedBatons.removeFirst(max(0, endedBatons.count - Self.memory))
        return broken
    }

    private mutating func kill(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        guard let owner, owner.epoch == entry.other else {
            return [
                Violation(
                    .c3, at: record.revision,
                    "Session \(entry.participant) killed the process of epoch "
                        + "\(entry.other.map { "\($0)" } ?? "unknown"), which did not own.")
            ]
        }
        if owner.role == .main {
            return [Violation(.c6, at: record.revision, "The process of a Main (epoch \(owner.epoch)) was killed.")]
        }
        return deadlineFailure(for: entry).map { [Violation(.c3, at: record.revision, $0)] } ?? []
    }

    private mutating func startCore(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        var broken: [Violation] = []
        if owner?.epoch != entry.epoch || owner?.participant != entry.participant {
            broken.append(notOwner(record, did: "started a core"))
        }
        for (epoch, core) in cores.sorted(by: { $0.key < $1.key })
        where epoch != entry.epoch && !superseded.contains(epoch) {
            broken.append(
                Violation(
                    .c1, at: record.revision,
                    "Session \(entry.participant) started a core while that of epoch \(epoch) (session "
                        + "\(core.participant)) ran."))
        }
        if let epoch = entry.epoch { cores[epoch] = Core(participant: entry.participant, process: entry.process) }
        return broken
    }

    /// Counts an overlap. If one of the cores was superseded, the overlap breaks no rule, even if that core began
    /// second: it was frozen before its start. The timeline decides, not the claim of the entry: an epoch that the
    /// timeline does not know was never fenced.
    private mutating func countOverlap(_ entry: TimelineEntry) {
        let seen = [entry.epoch, entry.other].compactMap(\.self).filter(superseded.contains)
        if seen.isEmpty { overlaps += 1 } else { supersededOverlaps += 1 }
        // The witness has just seen this core run, so it must stay among the known ones.
        for epoch in seen { supersede(epoch) }
    }

    private mutating func install(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        let epoch = entry.epoch ?? record.revision
        var broken: [Violation] = []
        if epoch != record.revision {
            broken.append(
                Violation(
                    .c1, at: record.revision, "The epoch \(epoch) is not the revision of its acquisition."))
        }
        if let lastEpoch, epoch <= lastEpoch {
            broken.append(
                Violation(.c1, at: record.revision, "The epoch \(epoch) does not rise: \(lastEpoch) was before it."))
        }
        if let owner { challenges[owner.epoch] = nil }
        requests[entry.participant] = nil
        owner = Owner(
            epoch: epoch, participant: entry.participant, role: entry.role, state: entry.to ?? .starting,
            hasLease: entry.bound != nil)
        lastEpoch = max(lastEpoch ?? epoch, epoch)
        return broken
    }

    /// Ends an ownership with its session.
    private mutating func end(_ owner: Owner) {
        endSession(of: owner)
        challenges[owner.epoch] = nil
        self.owner = nil
    }

    /// Returns why the take-over from an Executor came too early; nil if it was allowed.
    private func deadlineFailure(for entry: TimelineEntry) -> String? {
        guard let request = requests[entry.participant] else {
            return "Session \(entry.participant) took the core from an Executor without having asked."
        }
        guard let elapsed = request.moment.elapsed(until: entry), elapsed < request.bound else { return nil }
        return "Session \(entry.participant) asked for the core within \(request.bound) and took it after \(elapsed)."
    }

    private func notOwner(
        _ record: TimelineRecord, did deed: String, breaking rule: Violation.Rule = .c4
    ) -> Violation {
        Violation(
            rule, at: record.revision,
            "Session \(record.entry.participant) \(deed) with epoch "
                + "\(record.entry.epoch.map { "\($0)" } ?? "none"), but "
                + (owner.map { "session \($0.participant) owned with epoch \($0.epoch)." } ?? "there was no owner."))
    }
}

extension OwnerState {
    fileprivate func maybeFollowed(by next: OwnerState) -> Bool {
        switch (self, next) {
        case (.starting, .running), (.starting, .stopping), (.running, .stopping): true
        default: false
        }
    }
}
