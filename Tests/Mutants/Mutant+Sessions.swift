internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import StoreEngine

extension Mutant {
    static let sessions: [Mutant] = [
        Mutant("forgets a death", caughtBy: "L1") { damage in
            damage.kill = { _ in }
        },
        Mutant("lists sessions that have ended", caughtBy: "L1") { damage in
            let seen = Box<[Session]>([])
            damage.sessions = { group throws(SharedCoreError) in
                let now = try await group.sessions()
                return seen.update { seen in
                    seen += now.filter { session in !seen.contains { $0.id == session.id } }
                    return seen.sorted { $0.id < $1.id }
                }
            }
        },
        Mutant("keeps the session of a handle that was let go", caughtBy: "L1") { damage in
            damage.endsWhenLetGo = false
        },
        Mutant("shows in a causal list what the list before it found", caughtBy: "L3") { damage in
            let found = Box<[SessionID: Snapshot]>([:])
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let now = try await group.list(prefix, consistency: consistency)
                let former = found.update { $0.updateValue(now, forKey: group.session.id) }
                return consistency == .causal ? former ?? now : now
            }
        },
        Mutant("does not name its sessions", caughtBy: "L2") { damage in
            damage.open = { space, description, requirements throws(SharedCoreError) in
                try await space.open(
                    "group", as: SessionDescription(role: description.role, name: ""), requirements: requirements)
            }
        },
        Mutant("gives every session the same role", caughtBy: "L2") { damage in
            damage.open = { space, description, requirements throws(SharedCoreError) in
                try await space.open(
                    "group", as: SessionDescription(role: .tool, name: description.name), requirements: requirements)
            }
        },
        Mutant("lets a reader take part", caughtBy: "L4") { damage in
            damage.openToRead = { space, description throws(SharedCoreError) in
                try await space.open("group", as: description)
            }
        },
        Mutant("makes the group that a reader asks for", caughtBy: "L4") { damage in
            damage.openToRead = { space, description throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await space.openToRead("group", as: description)
                } catch {
                    let first = try await space.open("group", as: description)
                    defer { withExtendedLifetime(first) {} }
                    return try await space.openToRead("group", as: description)
                }
            }
        },
        Mutant("shows a reader what an earlier one saw", caughtBy: "L4") { damage in
            let first = Box<(any SharedGroup)?>(nil)
            damage.openToRead = { space, description throws(SharedCoreError) in
                let reader = try await space.openToRead("group", as: description)
                return first.update { first in
                    defer { first = first ?? reader }
                    return first ?? reader
                }
            }
        },
        Mutant("shows a reader one key at a time", caughtBy: "L4") { damage in
            damage.openToRead = { space, description throws(SharedCoreError) in
                TornReader(try await space.openToRead("group", as: description), in: space)
            }
        },
        Mutant("shows a reader entries past their time", caughtBy: "L4") { damage in
            let earlier = Box<StoreState?>(nil)
            damage.beginning { earlier.update { $0 = nil } }
            damage.openToRead = { space, description throws(SharedCoreError) in
                let reader = try await space.openToRead("group", as: description)
                let present = space.order(of: "group", effectByteCount: 0).replica.read { $0 }
                // As it stood when something in it had a time: a participant may record the expiry meanwhile.
                let state = earlier.update { earlier in
                    var copy = present
                    if earlier == nil, copy.nextExpiry() != nil { earlier = present }
                    return earlier ?? present
                }
                return try GroupView(state, as: reader.session, capabilities: reader.capabilities, location: "memory")
            }
        },
        Mutant("gives no lease where a death is noticed by one", caughtBy: "L5") { damage in
            damage.features = { $0.subtracting([.promptDeathNotice]) }
        },
        Mutant("gives a lease that no answer moves", caughtBy: "L5") { damage in
            let lease = SessionLease(duration: .seconds(3), confirmedAt: SystemClock().now())
            damage.lease = { _ in lease }
        },
        Mutant("gives a lease that ends later than the session", caughtBy: "L5") { damage in
            damage.lease = { _ in
                SessionLease(duration: .seconds(3), confirmedAt: SystemClock().now().advanced(by: .seconds(3)))
            }
        },
        Mutant("takes a stop for a death", caughtBy: "S15") { damage in
            damage.stop = { $0.simulateKill() }
        },
    ]
}
