import CoreAPITesting
import FileCases
import Platform
import TestSupport
import Testing

/// The worth of the cases over files: each defect is built into the processes of one case, which must notice it.
@Suite("Mutants: a broken file backend is caught, by name", .serialized, .timeLimit(.minutes(10)))
struct FileMutantTests {
    @Test(
        "A mutant fails its case, which says what is wrong", .enabled(if: TestScope.isCheck), arguments: FileMutant.all)
    func caught(mutant: FileMutant) async throws {
        let report = try await mutant.attempt()
        #expect(
            mutant.isCaught(in: report), "\(mutant.caseID) \(report.word): \(report.message.prefix(2000))")
    }

    /// One case as its mutants are tried on it.
    struct Control: Hashable {
        let caseID: String
        let place: String?

        static let all = Set(FileMutant.all.map { Control(caseID: $0.caseID, place: $0.place) })
            .sorted { $0.caseID < $1.caseID }
    }

    @Test(
        "The trial is not what fails: without a defect each of these cases passes", .enabled(if: TestScope.isCheck),
        arguments: Control.all)
    func intact(control: Control) async throws {
        let report = try await FileTrial.report(on: control.caseID, timeout: TestTimeout.usual, arming: control.place)
        #expect(report.word == "passed", "\(report.message.prefix(2000))")
    }

    @Test("Every defect is one of a mutant's")
    func complete() {
        #expect(Set(FileMutant.all.map(\.defect)) == Set(Defect.allCases))
        #expect(FileMutant.all.count == Defect.allCases.count)
    }
}
