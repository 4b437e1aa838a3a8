internal import CoreAPI
internal import Platform
internal import Synchronization

/// The groups that are open in this process, so that all participants of a group share its resources.
///
/// Participants with another clock or other sizes share nothing with the others: they use the group as another process
/// would.
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
    /// Opens groups one after another on its own thread, because reading their files blocks.
    private let thread = SerialThread(name: "sc-open")

    /// Runs `body`, which reads files of a group, on the thread on which groups are opened.
    func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try await thread.run(body)
    }

    /// Returns this process's part of a group, which it reads unless this process has it open.
    func group(at path: String, options: FileGroupOptions) async throws(SharedCoreError) -> LocalGroup {
        try await thread.run { () throws(SharedCoreError) in
            let directory = try GroupDirectory(path: path, access: options.access)
            guard let key = Self.key(directory, options) else {
                return try LocalGroup.load(directory, options: options)
            }
            // A group that was read in another boot of the machine is not shared: the sessions of its participants are
            // over. A group that has lost its files is not shared either: its participants go on to get the error, and
            // the new one opens the files that are there now.
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

    /// Returns the properties that participants must have in common; nil if the clock has no identity.
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
