internal import CoreAPI
internal import FileNotifyBackend
internal import Logging
internal import SharedCoreConfiguration

extension SharedStore {
    /// How this process is woken by news of the group. It is known only once something is watched: the system may have
    /// no watch left.
    func wakeUpInForce() async throws(SharedCoreError) -> WakeUpMethod {
        let watch = try await self.watch([KeyPrefix(stringLiteral: ".sharedcore/ownership")], from: .snapshot)
        defer { watch.cancel() }
        return capabilities.wakeUp
    }
}

extension CommandContext {
    /// How a participant of this user would be woken in the configured group; nil where only a trial would tell, which writes.
    var wakeUpOfParticipants: WakeUpMethod? {
        get throws(ConfigurationFailure) {
            guard try resolution.value(Settings.backend) == "file" else { return .direct }
            return FileGroup.wakeUpOfParticipants(in: try resolution.groupDirectory())
        }
    }

    /// Says in the log, once for a command, when news of the group come slower than the backend can bring them.
    func noteWakeUp(of group: any SharedGroup) async throws(SharedCoreError) {
        switch try await group.wakeUpInForce() {
        case .direct, .fileEvents: break
        case .sharedMemory:
            logger.notice(
                """
                files cannot be watched here (by inotify: because of the file system, this user's limits fs.inotify.*, or a \
                full disk, which has no room for the file to watch): this process waits at shared memory instead, where a \
                lost wake-up is noticed within 10 s
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

    /// The words for people.
    var sentence: String {
        switch self {
        case .direct: "by the backend"
        case .fileEvents: "by file events"
        case .sharedMemory: "at shared memory, because files cannot be watched here"
        case .polling(let interval): "by nothing, reads every \(interval)"
        }
    }
}
