internal import CoreAPI
internal import StoreEngine

extension Effect {
    /// True if a hub must read the group again after this effect. These are commits that put an entry with a lifetime, and
    /// all effects that are no commits, such as an expiry or the end of a session.
    var beginsToEnd: Bool {
        guard case .committed(_, _, let operations) = body else { return true }
        return operations.contains { operation in
            guard case .put(_, _, let lifetime) = operation else { return false }
            return lifetime != .persistent && lifetime != .session
        }
    }
}

extension WakeChannels {
    /// Makes the wake channels that an effect signals, as far as they are known before it is applied; otherwise all of
    /// them.
    init(of effect: Effect) {
        switch effect.body {
        case .sessionOpened, .refused: self = WakeChannels()
        case .sessionEnded, .restarted: self = .all
        case .expired(let keys): self = keys.reduce(into: WakeChannels()) { $0.formUnion(WakeChannels(changing: $1)) }
        case .committed(_, _, let operations): self.init(of: operations)
        }
    }

    private init(of operations: [Effect.Operation]) {
        self = operations.reduce(into: WakeChannels()) { wakeChannels, operation in
            switch operation {
            case .put(let key, _, _), .delete(let key): wakeChannels.formUnion(WakeChannels(changing: key))
            case .post(let name, _): wakeChannels.formUnion(WakeChannels(posting: name))
            case .deletePrefix: wakeChannels = .all
            }
        }
    }

    /// Makes the wake channels that an effect signals when it is applied to a state. A channel that is opened without
    /// need wakes its listeners now, and again when the process ends. So the set is exact: the deletion of an absent
    /// key, for example, signals no channel.
    init(of effect: Effect, before state: borrowing StoreState) {
        switch effect.body {
        case .sessionEnded(let session):
            self = state.keys(livingWith: session).reduce(into: WakeChannels()) {
                $0.formUnion(WakeChannels(changing: $1))
            }
        case .committed(_, _, let operations):
            self.init(
                of: operations.filter { operation in
                    if case .delete(let key) = operation { state.entry(key) != nil } else { true }
                })
        default: self.init(of: effect)
        }
    }

    /// Makes the wake channels that are signalled when the process that commits an effect ends: those of the keys with
    /// the lifetime of a session.
    init(ofKeysHeldBy effect: Effect) {
        self = WakeChannels()
        guard case .committed(_, _, let operations) = effect.body else { return }
        for case .put(let key, _, .session) in operations { formUnion(WakeChannels(changing: key)) }
    }

    /// Makes the wake channels that an effect signals, after it was applied to a state.
    ///
    /// - Parameter expected: The channels that were computed before the effect was applied.
    init(of effect: Effect, expected: WakeChannels, in state: inout StoreState) {
        guard expected == .all else {
            self = expected
            return
        }
        if let last = state.history.last, last.revision == effect.revision {
            self = last.changes.reduce(into: WakeChannels()) { $0.formUnion(WakeChannels(changing: $1.key)) }
            if case .committed(_, _, let operations) = effect.body {
                for case .post(let name, _) in operations { formUnion(WakeChannels(posting: name)) }
            }
        } else {
            // The effect changed nothing.
            self = WakeChannels()
        }
    }
}
