internal import Coordination

/// A message as its server, the store and the judge know it.
struct ServerMessage {
    let callID: CallID
    let content: InboxMessage.Content
    var arrivedAt: UInt64?
    /// Whether the server has it and no core has acknowledged it.
    var isHeld = false
    /// When it was last there to be taken.
    var availableSince: UInt64?
    /// When it was stored first.
    var storedAt: UInt64?
    /// The commit that changed it in the inbox last.
    var lastChange: UInt64 = 0
    /// How many times it was acknowledged by whoever showed it.
    var acknowledgements = 0
    /// Whether its time in the inbox was over once.
    var hasExpired = false
}
