/// Why a Main does not own any more.
public enum MainEnd: Hashable, Sendable {
    /// It was stopped by its application.
    case stopped
    /// Another Main took over.
    case superseded
    /// Its core ended by itself, failed ten times in a row, or could not start the first time; the text says why.
    case coreFailed(String)
    /// Its session is over for the group, or it cannot follow the group any more: its core has stopped, close the handle.
    case sessionEnded
}
