internal import Coordination
internal import CoreAPI

/// A call that a core has over its network, and that the group records (C23). A ``Call`` is another thing: it waits for
/// a message.
struct Dialog {
    let id: CallID
    /// The key of the call's record.
    let key: Key
    /// True if the call moves with a baton.
    var moves: Bool
    /// When the other side ends the call.
    let endsAt: UInt64
    /// The core that the last commit made the call's holder.
    var holder: Int
    /// True if the call's record exists and is open.
    var isOpen = false
    /// True if a core was told to end the call over the network because its baton was over.
    var isHungUp = false
}
