internal import CoreAPITesting
package import Platform

/// The file backend with a defect, and the case that must catch it.
package struct FileMutant: Sendable, CustomStringConvertible {
    /// What is wrong with it, as a phrase: "publishes without comparing".
    package let name: String
    package let defect: Defect
    /// The case that must fail, of the suite or of the files' own.
    package let caseID: String
    /// What the case must say, so that nothing else was in its way.
    package let complaint: String
    /// Where the processes are armed from the start.
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
    /// What most cases wait for never comes there, so they wait briefly. Where the machine is so busy that the case fails
    /// earlier, in what it waits for first, it is tried with the usual patience.
    package func attempt() async throws -> FileTrial.Report {
        let report = try await FileTrial.report(on: caseID, patience: .seconds(5), defect: defect, arming: place)
        guard report.word == "failed", !isCaught(in: report) else { return report }
        return try await FileTrial.report(on: caseID, patience: TestTimeout.usual, defect: defect, arming: place)
    }

    /// Whether the case has noticed what is wrong.
    package func isCaught(in report: FileTrial.Report) -> Bool {
        report.word == "failed" && report.message.contains(complaint)
    }
}
