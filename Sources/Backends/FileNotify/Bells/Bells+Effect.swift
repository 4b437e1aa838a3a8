internal import CoreAPI
internal import StoreEngine

extension Effect {
    /// Whether something ends by it, or will by itself at a time, for which a hub looks anew. For the ends of its
    /// clients' processes it waits on its own.
    var beginsToEnd: Bool {
        guard case .committed(_, _, let operations) = body else { return true }
        return operations.contains { operation in
            guard case .put(_, _, let lifetime) = operation else { return false }
            return lifetime != .persistent && lifetime != .session
        }
    }
}

extension Bells {
    /// The bells that an effect rings, as far as they can be told before it is applied: all of them when it cannot.
    init(of effect: Effect) {
        switch effect.body {
        case .sessionOpened, .refused: self = []
        case .sessionEnded, .restarted: self = .all
        case .expired(let keys): self = keys.reduce(into: []) { $0.formUnion(Bells(changing: $1)) }
        case .committed(_, _, let operations):
            self = operations.reduce(into: []) { bells, operation in
                switch operation {
                case .put(let key, _, _), .delete(let key): bells.formUnion(Bells(changing: key))
                case .post(let name, _): bells.formUnion(Bells(posting: name))
                case .deletePrefix: bells = .all
                }
            }
        }
    }

    /// The bells that an effect rings when it is applied to a state. A bell that is opened for nothing rings when its
    /// process ends, so those who leave must not open all of them.
    init(of effect: Effect, before state: StoreState) {
        if case .sessionEnded(let session) = effect.body {
            self = state.keys(livingWith: session).reduce(into: []) { $0.formUnion(Bells(changing: $1)) }
        } else {
            self.init(of: effect)
        }
    }

    /// The bells that the end of whoever commits an effect will ring: those of the keys that live with a session.
    init(ofKeysHeldBy effect: Effect) {
        self = []
        guard case .committed(_, _, let operations) = effect.body else { return }
        for case .put(let key, _, .session) in operations { formUnion(Bells(changing: key)) }
    }

    /// The bells that an effect rings that was just applied to a state.
    ///
    /// - Parameter expected: Those that could be told of it before.
    init(of effect: Effect, expected: Bells, in state: inout StoreState) {
        guard expected == .all else {
            self = expected
            return
        }
        if let last = state.history.last, last.revision == effect.revision {
            self = last.changes.reduce(into: []) { $0.formUnion(Bells(changing: $1.key)) }
            if case .committed(_, _, let operations) = effect.body {
                for case .post(let name, _) in operations { formUnion(Bells(posting: name)) }
            }
        } else {
            // It changed nothing.
            self = []
        }
    }
}
