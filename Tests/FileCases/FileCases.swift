package import CoreAPITesting

/// The promises of the file backend beyond any backend's cases, or by means of its own: cases like those of the suite,
/// with an `F` before the rule. They know where the files are and how to hide something of the system from a process.
package enum FileCases {
    package static let all: [ConformanceCase] =
        OrderCases.all + DiskCases.all + WakeUpCases.all + SessionCases.all

    /// A case of this backend's own or of the suite.
    package static func named(_ id: String) -> ConformanceCase? {
        (all + ConformanceSuite.cases).first { $0.id == id }
    }
}
