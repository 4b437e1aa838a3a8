internal import CoreAPI
internal import FoundationEssentials
internal import Logging
internal import Platform
internal import UnixSignals

/// Reads the configuration again at each SIGHUP.
struct HostReload: Sendable {
    let host: PushHost
    let context: CommandContext
    let global: GlobalOptions
    let notifier: ServiceNotifier
    let changes: ChangeBell

    /// Works until the task is cancelled.
    func run() async {
        var current = context.resolution
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            notifier.reloading(at: SystemClock.monotonicMicroseconds)
            do throws(CommandFailure) {
                current = try await adopt(try read(), after: current)
            } catch {
                context.logger.error("the configuration stays as it was: \(error.message ?? "")")
            }
            notifier.ready("serving")
            changes.ring()
        }
    }

    private func read() throws(CommandFailure) -> Resolution {
        let environment = context.resolution.environment
        return Resolution(
            flags: global.flags, environment: environment,
            file: try ConfigurationSearch(flag: global.file, environment: environment).read(),
            workingDirectory: context.resolution.workingDirectory)
    }

    private func adopt(_ new: Resolution, after former: Resolution) async throws(CommandFailure) -> Resolution {
        let settings = try ExecutorSettings(new)
        let before = Dictionary(try former.overview().map { ($0.key, $0.value) }) { first, _ in first }
        let differing = try new.overview().filter { before[$0.key] != $0.value }
        await host.adopt(settings)
        let changed = differing.map(\.key).filter(ExecutorSettings.changeable.contains)
        let others = differing.map(\.key).filter { !ExecutorSettings.changeable.contains($0) }
        context.logger.notice(
            "the configuration was read again; \(changed.isEmpty ? "nothing changes" : "changed: " + changed.joined(separator: ", "))"
        )
        if !others.isEmpty {
            context.logger.warning("only a restart changes \(others.joined(separator: ", "))")
        }
        return new
    }
}
