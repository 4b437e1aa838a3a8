internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import FoundationEssentials
internal import InMemoryBackend
internal import Platform
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// The path from a file of the Maildir to the user's alert.
@Suite("The alert that an Executor brings")
struct ExecutorAlertTests {
    private func alert(for mail: String, callID: String) async throws -> Alert? {
        let directory = try TemporaryDirectory()
        for folder in ["tmp", "new", "cur"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(of: folder), withIntermediateDirectories: true)
        }
        try OpenFile(path: directory.path(of: "new/1"), .createNew).write(Array(mail.utf8), at: 0)
        // Small, so that little is too large.
        let group = try await MemorySpace(limits: Limits(valueByteCount: 4096)).open(
            "a", as: SessionDescription(role: .executor))
        var options = CoordinationOptions()
        options.coreLinger = .zero
        let request = ExecutorRequest(
            callID: try #require(CallID(callID)), timeout: TestTimeout.long, maildir: directory.path, options: options)
        let report = try await ExecutorRun.run(request, in: group) { _ in }
        await group.close()
        return PrintedLine(Array(report.json.line.utf8), hadMore: false).flatMap(Alert.init(printedIn:))
    }

    @Test("An invitation is titled with its sender, not with the user's own address")
    func invitation() async throws {
        let alert = try await alert(
            for: "From: Zoë <zoe@example.org>\r\nTo: Me <me@example.org>\r\nMessage-ID: <1@x>\r\nSubject: Tea\r\n"
                + "X-SharedCore-Kind: invitation\r\nX-SharedCore-Conference: sip:room@x\r\n\r\n", callID: "sip:room@x")
        #expect(
            alert?.title.contains("zoe@example.org") == true && alert?.text == "Tea", "\(String(describing: alert))")
    }

    @Test("Of a message that is too large the user is told its sender")
    func tooLarge() async throws {
        let alert = try await alert(
            for: "From: zoe@example.org\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\n"
                + String(repeating: "word \n", count: 2000), callID: "1@x")
        #expect(alert?.title == "zoe@example.org" && alert?.text.contains("too large") == true)
    }
}
