public import CoreAPI
// A target that imports this one gets the clock and the waits of both kits.
@_exported public import TestInstruments

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

    /// Makes a group that is empty and that no other code uses.
    ///
    /// - Throws: ``HarnessLimitation`` for a setting that the backend cannot be made with; cases that need it are
    ///   skipped then, with the reason.
    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup

    /// The program of a second process, which calls ``ConformancePeer/serve()``; nil when there is none, so that
    /// cases with several processes are skipped.
    var peer: PeerProgram? { get }

    /// The places at which a process of this build can be stopped or killed inside a commit. Empty when there is no
    /// such place; the cases that need them are skipped then.
    var failPoints: FailPointSet { get }

    /// The reason why a process of this backend must not be stopped at a random moment, say because it may hold the
    /// lock of a database then, or because its stop is found only when a long lease is over; nil where it can be. The
    /// cases that stop a Main or an Executor are skipped where it must not.
    var stopLimitation: HarnessLimitation? { get }

    /// The promises that the backend does not make, because a process that is no participant could break them, and that the cases
    /// try all the same: here no case stops or kills that process. Empty unless the harness says otherwise. The refusal of a caller
    /// that requires them is checked too.
    var promisesOfParticipants: Set<Capability> { get }

    /// The cost of a commit; ``CommitCost/low`` unless the harness says otherwise.
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

    /// The address by which a second process finds the group, words with one space between them: a path, an endpoint.
    /// Empty for a group of one process.
    var address: String { get }

    /// The path of the directory that holds every file of the group and nothing else; nil for a group without files.
    /// L4e compares its content, and is skipped where it is nil.
    var directory: String? { get }

    /// Removes the group with everything that it has stored. All handles of this process are closed by then.
    func remove() async

    /// Ends a handle as the death of its process would: its session is over, nothing more of it takes effect (W4 says what such a
    /// handle shows). May wait, as for a server that ends the lease.
    func simulateKill(of handle: any SharedGroup) async throws

    /// Holds a handle up as a stop of its process would.
    func simulateStop(of handle: any SharedGroup) async throws

    /// Lets a handle go on that was held up.
    func simulateContinue(of handle: any SharedGroup) async throws

    /// Holds up everything that passes between a handle and the server, in both directions. Neither is told, as where a
    /// cable is pulled. For a group with ``ServerFault/cut``.
    func cut(_ handle: any SharedGroup) async throws

    /// Lets through what was held up, in its order, and what comes.
    func mend(_ handle: any SharedGroup) async throws

    /// Delays everything that a handle is told from now on by a time, in its order; zero ends the delay. For a group
    /// with ``ServerFault/delay``.
    func delay(_ handle: any SharedGroup, by time: Duration) async throws

    /// Kills the server as SIGKILL does, and starts it again at the same address, on what it has stored. Handles stay
    /// open meanwhile. For a group with ``ServerFault/restart``.
    func restartServer() async throws

    /// Takes up the space that the server stores the group in, but for at most 64 KiB. For a group with
    /// ``ServerFault/full``.
    func fillServer() async throws

    /// Gives that space back.
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

/// A fault of the server of a group, or of a connection to it, that a case causes.
public enum ServerFault: Hashable, Sendable {
    /// Connections that pass nothing, in neither direction.
    case cut
    /// News that arrive late.
    case delay
    /// A server that is killed and started again.
    case restart
    /// A server without space.
    case full
}

/// The settings that a case needs of the group that a harness makes for it. A nil setting is the backend's own.
public struct GroupSettings: Sendable {
    /// The clock that the group lives by.
    public var clock: (any TimeSource)?
    /// The sizes that it accepts.
    public var limits: Limits?
    /// The bytes of changes that it keeps for watches that fall behind. If it is nil, cases expect that a few
    /// hundred KiB are kept.
    public var historyByteCount: Int?
    /// The fault that the case causes; nil for none. A harness that cannot cause it throws ``HarnessLimitation``. With one, a call
    /// that gets no answer ends within a minute, and a session outlives the fault by minutes.
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
    /// In a commit, before it is part of the order.
    public var beforePublication: [String]
    /// In a commit, after it has become part of the order.
    public var afterPublication: [String]

    public init(beforePublication: [String] = [], afterPublication: [String] = []) {
        self.beforePublication = beforePublication
        self.afterPublication = afterPublication
    }
}

/// The program that plays a second process, and how it is started.
public struct PeerProgram: Hashable, Sendable {
    /// Its absolute path.
    public var path: String
    /// The arguments that it gets before any others.
    public var arguments: [String]

    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}

/// The cost of a commit on a backend, by which the few cases that make very many of them choose their numbers.
public enum CommitCost: Hashable, Sendable {
    /// Microseconds: memory, files that processes share.
    case low
    /// More: a database, a disk that is waited for, a network. Such a case puts many posts into one commit or makes
    /// fewer commits, and its result says so (``CaseResult/remarks``).
    case high
}

/// Something that a case needs and that this machine, this build or this harness cannot do.
public struct HarnessLimitation: Error, CustomStringConvertible {
    /// Why not, for people.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}
