internal import CoreAPI

/// A command that a member sends to the holder of a call (C24).
struct Order {
    let sender: Int
    /// The call, by number.
    let dialog: Int
    /// The sender's session, and the key of its command.
    let session: SessionID
    let key: Key
    var deadline = BootInstant(nanoseconds: 0)
    /// True if the command's sender no longer waits.
    var isOver = false
    /// How often a core has carried the command out.
    var executions = 0
    /// True if the command's sender was told that the command is not carried out.
    var isDisclaimed = false
}
