internal import BundledHarnesses
internal import CoreAPI
internal import CoreAPITesting
internal import FileCases
internal import Platform
internal import TestSupport
internal import Testing

/// The cases that only the file backend has. The mutants in `FileCases` show the worth of each.
@Suite("Cases of the files' own", .serialized, .timeLimit(.minutes(10)))
struct FileCasesTests {
    @Test("files", arguments: FileCases.all)
    func files(conformanceCase: ConformanceCase) async throws {
        let directory = try TemporaryDirectory()
        let harness = FileHarness(
            durability: .process, in: directory.path,
            peer: PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
        let result = await conformanceCase.run(on: harness)
        #expect(result.outcome == .passed, "\(result.outcome.message ?? "")")
    }
}
