/// One call on one key, with what it returned and the moments at which it began and ended.
///
/// Values are tokens that are never written twice, so that a guard on a revision is a comparison of tokens.
struct RegisterOperation: Sendable {
    /// What was called, and what came back.
    enum Call: Hashable, Sendable {
        /// A read and the token that it saw; nil when the key was absent.
        case read(Int?)
        /// An unconditional write.
        case write(Int)
        /// A deletion.
        case delete
        /// A write on condition that `expected` stands there; nil for an absent key.
        case exchange(expected: Int?, new: Int, succeeded: Bool, found: Int?)
    }

    let call: Call
    /// A number drawn before the call began.
    let began: Int
    /// A number drawn after the call had returned.
    let ended: Int

    /// What stands after the call when `state` stood before it; the outer nil when the call cannot have returned what it
    /// did.
    func applied(to state: Int?) -> Int?? {
        switch call {
        case .read(let seen): seen == state ? .some(state) : .none
        case .write(let token): .some(token)
        case .delete: .some(nil)
        case .exchange(let expected, let new, true, _): expected == state ? .some(new) : .none
        case .exchange(let expected, _, false, let found):
            expected != state && found == state ? .some(state) : .none
        }
    }
}
