internal import CoreAPI
internal import CoreAPITesting
internal import LogBackend
internal import Platform
internal import Synchronization

/// The suite's access to groups over logs in memory.
struct MemoryLogHarness: ConformanceHarness {
    let name = "log in memory"
    /// Returns the log that a participant uses in place of the given one.
    var change: @Sendable (MemoryLog.View) -> any SharedLog = { $0 }

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        MemoryLogGroup(settings: settings, change: change)
    }
}

private final class MemoryLogGroup: ConformanceGroup {
    private let log = MemoryLog()
    private let views = Mutex<[SessionID: MemoryLog.View]>([:])
    private let settings: GroupSettings
    private let change: @Sendable (MemoryLog.View) -> any SharedLog

    init(settings: GroupSettings, change: @escaping @Sendable (MemoryLog.View) -> any SharedLog) {
        self.settings = settings
        self.change = change
    }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        let view = log.open()
        let group = try await ReplicatedGroup.open(
            log: change(view), as: description, options: options(requiring: requirements))
        views.withLock { $0[group.session.id] = view }
        return group
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await ReplicatedGroup.openToRead(
            log: change(log.open()), as: description, options: options(requiring: .none))
    }

    private func options(requiring requirements: Requirements) -> LogGroupOptions {
        var options = LogGroupOptions.ofMemory
        options.requirements = requirements
        if let limits = settings.limits { options.limits = limits }
        if let byteCount = settings.historyByteCount { options.historyByteCount = byteCount }
        if let clock = settings.clock { options.clock = clock }
        return options
    }

    func remove() async {}

    func simulateKill(of handle: any SharedGroup) async throws { try view(of: handle).kill() }
    func simulateStop(of handle: any SharedGroup) throws { try view(of: handle).stop() }
    func simulateContinue(of handle: any SharedGroup) throws { try view(of: handle).continue() }

    func cut(_ handle: any SharedGroup) async throws { try view(of: handle).cut(true) }
    func mend(_ handle: any SharedGroup) async throws { try view(of: handle).cut(false) }
    func delay(_ handle: any SharedGroup, by time: Duration) async throws { try view(of: handle).delay(by: time) }
    func restartServer() async throws { try await log.restart() }
    func fillServer() async throws { log.fill(true) }
    func emptyServer() async throws { log.fill(false) }

    private func view(of handle: any SharedGroup) throws -> MemoryLog.View {
        guard let view = views.withLock({ $0[handle.session.id] }) else {
            throw HarnessLimitation("this handle is not one of a group over a log")
        }
        return view
    }
}

extension LogGroupOptions {
    /// The promises of a log in memory. It outlives its participants, and each of them counts as a process.
    static let ofMemory = LogGroupOptions(
        backend: "log", features: [.promptDeathNotice, .stoppedWritersTolerated, .endingsOnFullDisk],
        durability: .process, historyByteCount: 1 << 20)
}
