/// How the suite gets at a backend. Writing one is all that a backend's author does.
///
/// ```swift
/// struct MyHarness: ConformanceHarness {
///     let name = "mine"
///     func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup { try MyTestGroup(settings) }
/// }
/// ```
public protocol ConformanceHarness: Sendable {
    /// The backend's name, for people.
    var name: String { get }

    /// Makes a group that is empty and that nobody else uses.
    ///
    /// - Throws: ``HarnessLimitation`` for a setting that the backend cannot be made with; cases that need it are
    ///   skipped then, with the reason.
    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup

    /// The program that plays a second process, which calls ``ConformancePeer/serve()``; nil when there is none, so that
    /// cases with several processes are skipped.
    var peer: PeerProgram? { get }

    /// Where a process of this build can be stopped or killed inside a commit. Empty when there is no such place; the
    /// cases that need them are skipped then.
    var failPoints: FailPointSet { get }

    /// Why a process of this backend must not be stopped at a moment that nobody chose, say because it may hold the lock of a
    /// database then; nil where it can be. The cases that stop a Main or an Executor are skipped where it must not.
    var stopLimitation: HarnessLimitation? { get }

    /// What a commit costs; ``CommitCost/low`` unless the harness says otherwise.
    var commitCost: CommitCost { get }
}

extension ConformanceHarness {
    public var peer: PeerProgram? { nil }
    public var failPoints: FailPointSet { FailPointSet() }
    public var stopLimitation: HarnessLimitation? { nil }
    public var commitCost: CommitCost { .low }
}
