import BundledHarnesses
import CoreAPI
import CoreAPITesting
internal import Platform
import TestSupport

/// A backend of this package that the suite runs on.
enum BundledBackend: String, CaseIterable, CustomStringConvertible {
    case memory, files, filesOnDisk, hubOnMemory, hubOnFiles, hubOverTCP, hubOnMemoryOverTCP, hubWithinProcess
    case hubOnMemoryWithinProcess

    var description: String { rawValue }

    /// Runs something on a harness of this backend.
    func withHarness<Result>(_ body: (any ConformanceHarness) async throws -> Result) async throws -> Result {
        let directory = try TemporaryDirectory()
        let peer = PeerProgram(path: try ChildProcess.built("sharedcore-test-peer"))
        let harness: any ConformanceHarness =
            switch self {
            case .memory: MemoryHarness()
            case .hubOnMemory: ZMQHarness(.memory, over: .ipc, in: directory.path, peer: peer)
            case .hubOnFiles:
                ZMQHarness(
                    .files, over: .ipc, in: directory.path, peer: peer,
                    hub: PeerProgram(path: peer.path, arguments: ["hub"]))
            case .hubOverTCP: ZMQHarness(.files, over: .tcp, in: directory.path, peer: peer)
            case .hubOnMemoryOverTCP: ZMQHarness(.memory, over: .tcp, in: directory.path, peer: peer)
            case .hubWithinProcess: ZMQHarness(.files, over: .inproc, in: directory.path, peer: nil)
            case .hubOnMemoryWithinProcess: ZMQHarness(.memory, over: .inproc, in: directory.path, peer: nil)
            case .files: FileHarness(durability: .process, in: directory.path, peer: peer)
            case .filesOnDisk: FileHarness(durability: .disk, in: directory.path, peer: peer)
            }
        return try await body(harness)
    }
}
