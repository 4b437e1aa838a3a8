/// One row of the table of transitions: from where, by which event, to where, and what is done.
///
/// Source: contract P2.
public struct TransitionRow: Hashable, Sendable {
    /// Its number.
    public var number: TransitionNumber
    /// The events that it is about; two for a cellular call, which begins and ends.
    public var events: [ConnectivityEvent.Kind]
    /// The positions that it begins in.
    public var from: [LifePosition]
    /// The application's state afterwards; nil where it does not change.
    public var application: ApplicationState?
    /// The connectivity afterwards; nil where it does not change, or where the actions have to find out.
    public var connectivity: Connectivity?
    /// What is done, in this order. What follows once its answers are there is in ``ConnectivityMachine``'s hands.
    public var actions: [ConnectivityAction]
    /// Where the row comes from.
    public var source: RuleSource
    /// The row in a sentence.
    public var sentence: String

    /// Whether the row is about an event at a position.
    public func applies(to event: ConnectivityEvent.Kind, at position: LifePosition) -> Bool {
        events.contains(event) && from.contains(position)
    }
}
