import CoreAPITesting
import CoreAPITestingAdapters
import Testing

/// All tests use one server, which some of them kill.
@Suite("PostgreSQL", .serialized)
enum AllTests {}

extension AllTests {
    @Suite("Conformance of the PostgreSQL backend", .serialized)
    struct ConformanceTests {
        /// The cases that this backend declares impossible, and those that its harness cannot try.
        static let gaps: [String: String] = {
            let reasons = [
                "the files of a group are the server's": ["L4e"],
                "only a hub brings a baton to another machine": ["C25e", "C25f", "C25g"],
                "deaths and stops of participants are not simulated, but tried on real ones": ["L1d", "L3a", "S15a"],
            ]
            return reasons.reduce(into: [:]) { gaps, reason in for id in reason.value { gaps[id] = reason.key } }
        }()

        @Test(arguments: ConformanceSuite.cases)
        func conforms(to conformanceCase: ConformanceCase) async {
            await conformanceCase.test(on: PostgresHarness(), leavingOut: Self.gaps)
        }
    }
}
