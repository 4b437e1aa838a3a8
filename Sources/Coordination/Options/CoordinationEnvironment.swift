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
    /// Where a participant and its cores run; nil for the participants' thread and the concurrent pool. Only the kit for
    /// tests of applications sets it, to know when nothing runs any more.
    package var executor: (any SerialExecutor & TaskExecutor)?

    public init(
        clock: any TimeSource = SystemClock(), processes: any ProcessControl = LocalProcessControl(),
        witness: (any Witness)? = nil, seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.clock = clock
        self.processes = processes
        self.witness = witness
        self.seed = seed
    }
}
