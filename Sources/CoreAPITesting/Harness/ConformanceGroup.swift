public import CoreAPI

/// One group that a harness has made for a case.
public protocol ConformanceGroup: Sendable {
    /// Opens one more handle: a participant with a session of its own.
    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup

    /// What a second process is told to find the group, words with one space between them: a path, an endpoint. Empty for a group of one
    /// process.
    var address: String { get }

    /// Removes the group with everything that it has stored. All handles of this process are closed by then.
    func remove() async

    /// Ends a handle as the death of its process would: its session is over, nothing more of it takes effect.
    func simulateKill(of handle: any SharedGroup) throws

    /// Holds a handle up as a stop of its process would.
    func simulateStop(of handle: any SharedGroup) throws

    /// Lets a handle go on that was held up.
    func simulateContinue(of handle: any SharedGroup) throws
}

extension ConformanceGroup {
    public var address: String { "" }

    public func simulateKill(of handle: any SharedGroup) throws {
        throw HarnessLimitation("the death of a participant cannot be simulated here")
    }

    public func simulateStop(of handle: any SharedGroup) throws {
        throw HarnessLimitation("the stop of a participant cannot be simulated here")
    }

    public func simulateContinue(of handle: any SharedGroup) throws {
        throw HarnessLimitation("the stop of a participant cannot be simulated here")
    }
}
