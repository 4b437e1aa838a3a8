internal import BackendRegistry
internal import CoreAPI
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import ProgramOutput

#if Etcd
    internal import EtcdBackend
#endif

/// The group that is measured: a temporary one, which goes with the measurement.
enum BenchScratch {
    private static let groupName = "bench"

    /// Measures in a temporary group of a backend, behind a hub of its own where the backend needs one.
    static func holding(
        _ backend: String, _ durability: Durability, _ settings: [String: String],
        _ measure: (BackendConfiguration, BenchPrograms) async throws -> Void
    ) async throws {
        let programs = try BenchPrograms()
        let parent = OwnProcess.variable("TMPDIR").flatMap { String(validating: $0, as: UTF8.self) }
        let directory = try Directory.makeTemporary("sharedcore-bench", in: parent)
        defer { remove(directory) }
        var group = BackendConfiguration(
            backend: backend, group: groupName, stateDirectory: directory, durability: durability)
        group.settings = settings
        switch backend {
        case "zmq":
            group.settings["zmq.endpoint"] = "ipc://\(directory)/hub"
            group.settings["zmq.hub"] = "none"
            let hub = try await programs.participant(.hub, .tool, in: directory, of: group)
            do {
                try await measure(group, programs)
            } catch {
                // Its files are removed next.
                try? await hub.finish()
                throw error
            }
            try await hub.finish()
        case "etcd":
            group.group = "scratch-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            do {
                try await measure(group, programs)
            } catch {
                try? await erase(group)
                throw error
            }
            try await erase(group)
        case "file", "memory": try await measure(group, programs)
        default:
            // On a server, where other groups may be; it stays there.
            group.group = "scratch-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            try await measure(group, programs)
        }
    }

    private static func remove(_ directory: String) {
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            StandardError.write("sharedcore-bench: \(directory) is left behind: \(error)")
        }
    }

    /// Removes the keys of a group, also when the program was interrupted: in a task of its own, because waiting ends with
    /// its task.
    private static func erase(_ group: BackendConfiguration) async throws {
        #if Etcd
            let place = try EtcdFactory.cluster(of: group.settings)
            let prefix = group.settings["etcd.prefix"] ?? EtcdGroupOptions().prefix
            _ = try await Task { try await EtcdGroup.erase(group.group, at: place, prefix: prefix) }.value
        #endif
    }
}
