internal import Coordination
internal import CoreAPI

extension Mutant {
    /// The mutants of a rest that schedules detect as well.
    package static var ofRestInSchedules: [Mutant] {
        let names: Set = [
            "a core that goes on before its resume", "a holder that does not wake",
            "a Main at rest that has no time to resume", "a participant that does not see the rest of a Main",
        ]
        return ofRest.filter { names.contains($0.name) }
    }

    /// The mutants of a Main that rests, which the exploration detects.
    package static let ofRest: [Mutant] = [
        Mutant("a holder that releases by the epoch alone") {
            $0.changeDirective = { directive, move, machine in
                guard move == .givesUp, machine.isHolder else { return directive }
                return directive.changingTransaction { transaction in
                    transaction.dropGuards(on: OwnershipKey.owner, OwnershipKey.rest, OwnershipKey.wake)
                    transaction.guards += directive.epoch.map { [.epoch(OwnershipKey.owner, $0)] } ?? []
                }
            }
        },
        Mutant("a resume that does not ask whether the holder still owns") {
            $0.changeDirective = { directive, move, _ in
                guard move == .resumes else { return directive }
                return directive.changingTransaction {
                    $0.dropGuards(on: OwnershipKey.owner, OwnershipKey.rest)
                }
            }
        },
        Mutant("a core that goes on before its resume") {
            $0.changeDirective = { directive, move, _ in
                guard move == .resumes, let epoch = directive.epoch else { return directive }
                return .resumeCore(epoch: epoch)
            }
        },
        Mutant("a holder that takes past the request of another Main") {
            $0.changeDirective = { directive, move, _ in
                guard move == .takesRest else { return directive }
                return directive.changingTransaction { $0.dropGuards(on: OwnershipKey.handover) }
            }
        },
        Mutant("a holder that does not wake") {
            $0.changeDirective = { directive, move, machine in
                (move == .wakes || move == .wakesAgain) && machine.isHolder ? nil : directive
            }
        },
        Mutant("a holder that does not answer") {
            $0.changeDirective = { directive, move, machine in
                move == .answers && machine.isHolder ? nil : directive
            }
        },
        Mutant("a holder that does not release for a Main that does not resume") {
            $0.changeDirective = { directive, move, machine in
                move == .givesUp && machine.isHolder ? nil : directive
            }
        },
        Mutant("a take-over that does not ask whether the ownership has moved") {
            $0.changeDirective = { directive, move, machine in
                guard [.takesOverUnanswered, .replaces].contains(move), let owner = machine.view.owner else {
                    return directive
                }
                return directive.changingTransaction { transaction in
                    transaction.dropGuards(on: OwnershipKey.owner, OwnershipKey.rest)
                    transaction.guards.append(.epoch(OwnershipKey.owner, owner.claim))
                }
            }
        },
        Mutant("a Main at rest that has no time to resume") { $0.changeRules = { $0.wakeBound = .zero } },
        Mutant("a withdrawal that does not ask whether the offer was taken") {
            $0.changeDirective = { directive, move, machine in
                guard move == .endsRest, !machine.isHolder else { return directive }
                return directive.changingTransaction { $0.dropGuards(on: OwnershipKey.owner) }
            }
        },
        Mutant("a participant that does not see the rest of a Main") {
            $0.changeSeen = { entry, session in
                entry.key == OwnershipKey.rest && entry.origin != session ? nil : entry
            }
        },
    ]
}

extension OwnershipMachine {
    /// True if it stands for a holder. A holder has a machine of another type.
    fileprivate var isHolder: Bool { myself.role == .holder }
}

extension Directive {
    /// The epoch that the commit's last timeline event names.
    fileprivate var epoch: Revision? {
        guard case .commit(let transition) = self else { return nil }
        return transition.timelineEvents.last?.epoch
    }
}
