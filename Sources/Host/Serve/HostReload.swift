internal import CoreAPI
internal import FoundationEssentials
internal import KeptSockets
internal import Logging
internal import Platform
internal import SharedCoreConfiguration
internal import UnixSignals

/// Reads the configuration again at each SIGHUP.
struct HostReload: Sendable {
    let host: PushHost
    let context: CommandContext
    let global: GlobalOptions
    let notifier: ServiceNotifier
    let changes: ChangeSignal
    /// Created before the host reports that it is ready, so that no signal is lost or ends it.
    let signals: UnixSignalsSequence
    let supervisor: MainSupervisor?

    /// Returns the configuration after a reload: that of the start, with new values for the settings that can change.
    static func resolution(after start: Resolution, reading new: Resolution) -> Resolution {
        start.taking(ExecutorSettings.changeable, from: new)
    }

    /// Reads the configuration again at each signal, until the task is cancelled.
    func run() async {
        var current = context.resolution
        for await _ in signals {
            notifier.reloading(at: SystemClock.monotonicMicroseconds)
            do {
                current = try await adopt(try read(), after: current)
            } catch {
                context.logger.error("the configuration stays as it was: \(error)")
            }
            notifier.ready()
            changes.signal()
        }
    }

    private func read() throws(ConfigurationFailure) -> Resolution {
        let environment = context.resolution.environment
        return try Resolution(
            flags: global.flags, environment: environment,
            file: try ConfigurationSearch(flag: global.file, environment: environment).read(),
            workingDirectory: context.resolution.workingDirectory
        ).loadingBackend(among: context.resolution.added)
    }

    private func adopt(_ new: Resolution, after former: Resolution) async throws -> Resolution {
        let start = context.resolution
        let adopted = Self.resolution(after: start, reading: new)
        let settings = try ExecutorSettings(adopted)
        let changed = try Self.differences(of: adopted, from: former)
        let pending = try Self.differences(of: new, from: start).filter { !ExecutorSettings.changeable.contains($0) }
        let supervision = try adopted.supervision()
        await host.adopt(settings)
        if let supervision { supervisor?.configure(supervision.options) }
        let sentence = changed.isEmpty ? "nothing changes" : "changed: " + changed.joined(separator: ", ")
        context.logger.notice("the configuration was read again; \(sentence)")
        if !pending.isEmpty {
            context.logger.warning("only a restart changes \(pending.joined(separator: ", "))")
        }
        let levels = pending.filter { $0.hasPrefix("serviceLevels.") }
        if supervisor != nil, !levels.isEmpty {
            let advice = "Main has the environment of its keeper, which outlives this host: after a restart, end it by"
            context.logger.warning("\(advice) “sharedcore keeper --end” for \(levels.joined(separator: ", "))")
        }
        return adopted
    }

    /// Returns the settings that two configurations do not have in common.
    private static func differences(
        of new: Resolution, from former: Resolution
    ) throws(ConfigurationFailure) -> [String] {
        let before = Dictionary(try former.overview().map { ($0.key, $0.value) }) { first, _ in first }
        return try new.overview().filter { before[$0.key] != $0.value }.map(\.key)
    }
}
