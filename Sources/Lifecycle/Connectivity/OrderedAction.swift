/// An action with its place in the order of all actions of a machine.
public struct OrderedAction: Hashable, Sendable {
    /// Its place; rising.
    public let number: UInt64
    /// What is to be done.
    public let action: ConnectivityAction
}
