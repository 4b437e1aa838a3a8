public import CoreAPI
public import Platform

/// What a participant has of the machine around it: parameters, so that tests decide.
///
/// Source: contract C16.
public struct CoordinationEnvironment: Sendable {
    /// The clock of all deadlines.
    public var clock: any TimeSource
    /// How an Executor that does not let go is killed.
    public var processes: any ProcessControl
    /// Who watches that no two cores run at once; nil for nobody (contract C15).
    public var witness: (any Witness)?
    /// What chance comes from.
    public var seed: UInt64
    /// Told what the participant waits for, each time that it changes; nil when it waits no more. It is called on the
    /// participants' thread and must return at once.
    public var waits: (@Sendable (OwnershipWait?) -> Void)?

    public init(
        clock: any TimeSource = SystemClock(), processes: any ProcessControl = LocalProcessControl(),
        witness: (any Witness)? = nil, seed: UInt64 = .random(in: .min ... .max),
        waits: (@Sendable (OwnershipWait?) -> Void)? = nil
    ) {
        self.clock = clock
        self.processes = processes
        self.witness = witness
        self.seed = seed
        self.waits = waits
    }
}
