internal import CoreAPI
internal import Platform
internal import Synchronization

/// The groups that are open in this process, so that all participants of a group share its resources.
///
/// Participants with another clock or other sizes get an own part: it works as another process would.
final class GroupRegistry: Sendable {
    static let shared = GroupRegistry()

    private struct Key: Hashable {
        let group: FileStatus.Identity
        let limits: Limits
        let historyByteCount: Int
        let effectByteCount: Int
        let clock: ClockIdentity
        let wakeUpTrial: WakeUpSource.Trial
        let access: FileGroupOptions.Access
    }

    private enum ClockIdentity: Hashable {
        case system
        case object(ObjectIdentifier)
    }

    private struct Weak {
        weak var group: LocalGroup?
    }

    private let groups = Mutex<[Key: Weak]>([:])
    /// Groups are opened one after another, on a thread of our own, because their files are read.
    private let thread = SerialThread(name: "sc-open")

    /// Reads files of a group where groups are opened.
    func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try await thread.run(body)
    }

    /// Returns the part of this process in a group, which is read when this process did not have it open.
    func group(at path: String, options: FileGroupOptions) async throws(SharedCoreError) -> LocalGroup {
        try await thread.run { () throws(SharedCoreError) in
            let directory = try GroupDirectory(path: path, access: options.access)
            guard let key = Self.key(directory, options) else {
                return try LocalGroup.load(directory, options: options)
            }
            // A group that was read in another run of the machine is left to its participants, whose sessions are over.
            // A lost one is left to its participants, which have to learn of the loss.
            if let group = self.groups.withLock({ $0[key]?.group }), group.place.loss == nil,
                group.position.journal.header.bootID == options.clock.bootID
            {
                return group
            }
            let group = try LocalGroup.load(directory, options: options)
            self.groups.withLock { groups in
                groups = groups.filter { $0.value.group != nil }
                groups[key] = Weak(group: group)
            }
            return group
        }
    }

    /// Returns the properties that participants must have in common; nil when the clock is a value of its own.
    private static func key(_ directory: GroupDirectory, _ options: FileGroupOptions) -> Key? {
        let clock: ClockIdentity
        if options.clock is SystemClock {
            clock = .system
        } else if type(of: options.clock) is AnyClass {
            clock = .object(ObjectIdentifier(options.clock as AnyObject))
        } else {
            return nil
        }
        return Key(
            group: directory.identity, limits: options.limits, historyByteCount: options.historyByteCount,
            effectByteCount: options.effectByteCount, clock: clock, wakeUpTrial: options.wakeUpTrial,
            access: options.access)
    }
}
