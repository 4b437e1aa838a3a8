internal import Coordination
internal import CoreAPI

/// A call that a core has over its network, and that the group records (C23). A ``Call`` is another thing: it waits for
/// a message.
struct Dialog {
    let id: CallID
    /// The key of its record.
    let key: Key
    /// True if it moves with a baton.
    var moves: Bool
    /// When the other side ends it.
    let endsAt: UInt64
    /// The core that the last commit made its holder.
    var holder: Int
    /// True if its record exists and is open.
    var isOpen = false
    /// True if a core was told to end it over the network because its baton was over.
    var isHungUp = false
}
