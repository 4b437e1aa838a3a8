internal import CoreAPITesting
package import Platform

/// The file backend with a defect, and the case that must catch it.
package struct FileMutant: Sendable, CustomStringConvertible {
    /// The defect, as a phrase: "publishes without comparing".
    package let name: String
    package let defect: Defect
    /// The case that must fail, of the suite or of the files' own.
    package let caseID: String
    /// Words that the failure of the case must contain: they show that the defect caused it, and nothing else did.
    package let complaint: String
    /// The fail point with which the processes start.
    package let place: String?

    init(
        _ name: String, _ defect: Defect, caughtBy caseID: String, saying complaint: String, arming place: String? = nil
    ) {
        self.name = name
        self.defect = defect
        self.caseID = caseID
        self.complaint = complaint
        self.place = place
    }

    package var description: String { name }

    /// Tries the case on the backend with its defect.
    ///
    /// Most cases wait for an event that never comes there, so they wait briefly. If the machine is so busy that the
    /// case fails earlier, in its first wait, it is tried with the usual timeout.
    package func attempt() async throws -> FileTrial.Report {
        let report = try await FileTrial.report(on: caseID, timeout: .seconds(5), defect: defect, arming: place)
        guard report.word == "failed", !isCaught(in: report) else { return report }
        return try await FileTrial.report(on: caseID, timeout: TestTimeout.usual, defect: defect, arming: place)
    }

    /// Returns true if the case has noticed the defect.
    package func isCaught(in report: FileTrial.Report) -> Bool {
        report.word == "failed" && report.message.contains(complaint)
    }
}
