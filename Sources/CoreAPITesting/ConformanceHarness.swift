public import CoreAPI
// A target that imports this one gets the clock and the waits of both kits.
@_exported public import TestInstruments

/// Gives the suite access to a backend. The author of a backend only has to write a harness.
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

    /// Makes a group that is empty and that no other code uses.
    ///
    /// - Throws: ``HarnessLimitation`` for a setting that the backend does not support; cases that need it are then
    ///   skipped, with the reason.
    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup

    /// The program of a second process, which calls ``ConformancePeer/serve()``; nil if there is none: cases with
    /// several processes are then skipped.
    var peer: PeerProgram? { get }

    /// The fail points at which a process of this build can be stopped or killed inside a commit. If there are none,
    /// the cases that need them are skipped.
    var failPoints: FailPointSet { get }

    /// Nil if a process of this backend may be stopped at a random moment. Otherwise the reason why not: for example,
    /// the process may hold the lock of a database, or the stop is detected only at the end of a long lease. The cases
    /// that stop a Main or an Executor are then skipped.
    var stopLimitation: HarnessLimitation? { get }

    /// Features that the cases test although the backend does not promise them. Only the end or stop of a process that is
    /// no participant, such as a hub, would break them, and no case causes that. Empty by default. The cases also check
    /// that the backend refuses a caller that requires them.
    var promisesOfParticipants: Set<Capability> { get }

    /// The cost of a commit; ``CommitCost/low`` by default.
    var commitCost: CommitCost { get }
}

extension ConformanceHarness {
    public var peer: PeerProgram? { nil }
    public var failPoints: FailPointSet { FailPointSet() }
    public var stopLimitation: HarnessLimitation? { nil }
    public var promisesOfParticipants: Set<Capability> { [] }
    public var commitCost: CommitCost { .low }
}

/// One group that a harness has made for a case.
public protocol ConformanceGroup: Sendable {
    /// Opens one more handle: a participant with a session of its own.
    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup

    /// Opens the group to read it, without a session.
    ///
    /// - Throws: ``HarnessLimitation`` where the backend has no readers; the cases of L4 are skipped then.
    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup

    /// The address by which a second process finds the group, words separated by single spaces: a path, an endpoint.
    /// Empty for a group of one process.
    var address: String { get }

    /// The path of the directory that contains exactly the files of the group; nil for a group without files. L4e
    /// compares its content, and is skipped without it.
    var directory: String? { get }

    /// Removes the group with all its data. All handles of this process are closed before.
    func remove() async

    /// Ends a handle as the death of its process would: its session ends, and no further call takes effect (W4 defines
    /// the behaviour of such a handle). May wait, for example for a server that ends the lease.
    func simulateKill(of handle: any SharedGroup) async throws

    /// Stops a handle as a stop of its process would: its calls and watches wait.
    func simulateStop(of handle: any SharedGroup) async throws

    /// Continues a handle that was stopped.
    func simulateContinue(of handle: any SharedGroup) async throws

    /// Holds back all data between a handle and the server, in both directions, without notice to either, as if a cable
    /// were pulled. For a group with ``ServerFault/cut``.
    func cut(_ handle: any SharedGroup) async throws

    /// Delivers the data that was held back, in order, and all later data.
    func mend(_ handle: any SharedGroup) async throws

    /// Delays all data to a handle from now on by a time, in order; zero ends the delay. For a group with
    /// ``ServerFault/delay``.
    func delay(_ handle: any SharedGroup, by time: Duration) async throws

    /// Kills the server as SIGKILL does, and starts it again at the same address, with its stored data. Handles stay
    /// open meanwhile. For a group with ``ServerFault/restart``.
    func restartServer() async throws

    /// Fills the storage of the server, except for at most 64 KiB. For a group with ``ServerFault/full``.
    func fillServer() async throws

    /// Frees that space again.
    func emptyServer() async throws
}

extension ConformanceGroup {
    public var address: String { "" }
    public var directory: String? { nil }

    public func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        throw HarnessLimitation("this backend has no readers without a session, or the harness opens none")
    }

    public func simulateKill(of handle: any SharedGroup) async throws {
        throw HarnessLimitation("the death of a participant cannot be simulated here")
    }

    public func simulateStop(of handle: any SharedGroup) async throws {
        throw HarnessLimitation("the stop of a participant cannot be simulated here")
    }

    public func simulateContinue(of handle: any SharedGroup) async throws {
        throw HarnessLimitation("the stop of a participant cannot be simulated here")
    }

    public func cut(_ handle: any SharedGroup) async throws { throw HarnessLimitation.noFaults }
    public func mend(_ handle: any SharedGroup) async throws { throw HarnessLimitation.noFaults }
    public func delay(_ handle: any SharedGroup, by time: Duration) async throws { throw HarnessLimitation.noFaults }
    public func restartServer() async throws { throw HarnessLimitation.noFaults }
    public func fillServer() async throws { throw HarnessLimitation.noFaults }
    public func emptyServer() async throws { throw HarnessLimitation.noFaults }
}

extension HarnessLimitation {
    fileprivate static let noFaults = HarnessLimitation(
        "no server stands behind a group of this backend, or the harness does not break it")
}

/// A fault that a case causes: of the server of a group, or of a connection to it.
public enum ServerFault: Hashable, Sendable {
    /// Connections that transmit nothing, in either direction.
    case cut
    /// Updates that arrive late.
    case delay
    /// A server that is killed and started again.
    case restart
    /// A server without space.
    case full
}

/// The settings of the group that a harness makes for a case. For nil, the backend chooses the value.
public struct GroupSettings: Sendable {
    /// The clock of the group.
    public var clock: (any TimeSource)?
    /// The sizes that it accepts.
    public var limits: Limits?
    /// The bytes of changes that it keeps for watches that fall behind. If it is nil, cases expect a few hundred KiB.
    public var historyByteCount: Int?
    /// The fault that the case causes; nil for none. A harness that cannot cause it throws ``HarnessLimitation``. In a
    /// group with a fault, a call without an answer must end within a minute, and a session must outlive the fault by
    /// minutes.
    public var fault: ServerFault?

    public init(
        clock: (any TimeSource)? = nil, limits: Limits? = nil, historyByteCount: Int? = nil, fault: ServerFault? = nil
    ) {
        self.clock = clock
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.fault = fault
    }
}

/// The fail points at which a process of a backend can be stopped or killed in the middle of its work. Each is passed
/// by every commit of a put and a post that has a listener.
public struct FailPointSet: Hashable, Sendable {
    /// In a commit, before it takes effect for any process.
    public var beforePublication: [String]
    /// In a commit, after it has taken effect for all processes.
    public var afterPublication: [String]

    public init(beforePublication: [String] = [], afterPublication: [String] = []) {
        self.beforePublication = beforePublication
        self.afterPublication = afterPublication
    }
}

/// The program of a second process, and how it is started.
public struct PeerProgram: Hashable, Sendable {
    /// The absolute path of the program.
    public var path: String
    /// The arguments that come before all others.
    public var arguments: [String]

    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}

/// The cost of a commit on a backend, by which the few cases with very many commits choose their numbers.
public enum CommitCost: Hashable, Sendable {
    /// Microseconds: memory, files that processes share.
    case low
    /// A high cost: a database, a synchronous disk, a network. Such a case puts many posts into one commit or makes
    /// fewer commits, with a remark in its result (``CaseResult/remarks``).
    case high
}

/// The reason why a case cannot run on this machine, in this build or with this harness.
public struct HarnessLimitation: Error, CustomStringConvertible {
    /// Why not, for people.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}
