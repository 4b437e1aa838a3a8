internal import CoreAPI
internal import FileNotifyBackend
internal import Logging
internal import SharedCoreConfiguration

extension SharedStore {
    /// Returns how this process learns of commits. Opens a watch to find out, because the system's watches may be used
    /// up.
    func wakeUpInForce() async throws(SharedCoreError) -> WakeUpMethod {
        let watch = try await self.watch([KeyPrefix(stringLiteral: ".sharedcore/ownership")], from: .snapshot)
        defer { watch.cancel() }
        return capabilities.wakeUp
    }
}

extension CommandContext {
    /// How a participant of this user would learn of commits in the configured group; nil if only a trial with a write
    /// could show it.
    var wakeUpOfParticipants: WakeUpMethod? {
        get throws(ConfigurationFailure) {
            guard try resolution.value(Settings.backend) == "file" else { return .direct }
            return FileGroup.wakeUpOfParticipants(in: try resolution.groupDirectory())
        }
    }

    /// Logs, once in a command, that commits of the group arrive later than the backend could deliver them.
    func noteWakeUp(of group: any SharedGroup) async throws(SharedCoreError) {
        switch try await group.wakeUpInForce() {
        case .direct, .fileEvents: break
        case .sharedMemory:
            logger.notice(
                """
                files cannot be watched here by inotify: the file system does not support it, this user's limits \
                fs.inotify.* are reached, or the disk is full; this process waits at shared memory instead, where a lost \
                wake-up is noticed within 10 s
                """)
        case .polling(let interval):
            logger.notice("nothing wakes this process: it reads the group every \(interval)")
        }
    }
}

extension WakeUpMethod {
    /// The word for programs.
    var word: String {
        switch self {
        case .direct: "direct"
        case .fileEvents: "fileEvents"
        case .sharedMemory: "sharedMemory"
        case .polling: "looking"
        }
    }

    /// The way of waking as text for users.
    var sentence: String {
        switch self {
        case .direct: "by the backend"
        case .fileEvents: "by file events"
        case .sharedMemory: "at shared memory, because files cannot be watched here"
        case .polling(let interval): "by nothing, reads every \(interval)"
        }
    }
}
