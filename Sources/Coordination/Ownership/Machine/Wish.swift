/// What a participant wants of ownership.
package enum Wish: Hashable, Sendable {
    /// Not to own; an owner stops its core for this reason and releases.
    case nothing(because: IdleReason)
    /// To own, waiting while somebody else does.
    case own
    /// To own or to hear that it cannot: an Executor that insists is refused while a Main owns.
    case insist
    /// To own even where another Main does.
    case takeOver

    package var wantsOwnership: Bool {
        if case .nothing = self { false } else { true }
    }
}
