public import CoreAPI

/// What an acknowledgement did.
public enum Acknowledgement: Hashable, Sendable {
    /// The message is gone and will not be delivered again; the commit that says so.
    case acknowledged(Revision)
    /// The take does not stand any more: the message was acknowledged before, given back, dropped by overflow or taken
    /// by somebody else after this session's end. Nothing was changed.
    case superseded
}
