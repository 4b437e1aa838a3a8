internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("Every way of delivering into a folder rings")
struct ArrivalSignalTests {
    /// The ways in which files come into `new`.
    enum Delivery: CaseIterable {
        /// As Maildir is used today: written in `tmp`, renamed.
        case rename
        /// As Maildir began: written in `tmp`, linked, and removed there.
        case link
        /// As people do it.
        case copy

        func deliver(to maildir: TestMaildir) throws {
            switch self {
            case .rename:
                try maildir.deliver(id: "one")
            case .link:
                try maildir.write([1], to: "tmp/one")
                #expect(Glibc.link(maildir.path + "/tmp/one", maildir.path + "/new/one") == 0)
                #expect(unlink(maildir.path + "/tmp/one") == 0)
            case .copy:
                try maildir.write([1], to: "new/one")
            }
        }
    }

    @Test("A file that is renamed, linked or copied into new rings", arguments: Delivery.allCases)
    func rings(_ delivery: Delivery) async throws {
        let maildir = try TestMaildir()
        let source = try MailSource(path: maildir.path, limits: MailLimits())
        try await heard(source) { try delivery.deliver(to: maildir) }
    }

    @Test("After a look, the folder that stands at the path rings, whichever stood there before")
    func ringsForNewFolders() async throws {
        let maildir = try TestMaildir()
        let source = try MailSource(path: maildir.path, limits: MailLimits())
        #expect(rename(maildir.path, maildir.path + ".old") == 0)
        #expect(try source.look().arrivals.messages.isEmpty)
        try await heard(source) { try maildir.deliver(id: "one") }
        #expect(try source.look().arrivals.messages.map(\.description) == ["one.mail"])
    }

    @Test("Stopped, the bell keeps no task waiting")
    func stops() async throws {
        let maildir = try TestMaildir()
        let source = try MailSource(path: maildir.path, limits: MailLimits())
        try await heard(source) { source.arrivalSignal.stop() }
        try await heard(source) {}
    }

    /// Expects that the body ends a wait that would not end by itself.
    private func heard(_ source: MailSource, _ body: () throws -> Void) async throws {
        let wait = Task {
            await SerialThread(name: "waiting").run { source.arrivalSignal.wait(timeout: .seconds(3600)) }
        }
        try body()
        do {
            try await withTimeout(TestTimeout.usual, "the bell rings") { await wait.value }
        } catch {
            source.arrivalSignal.stop()
            throw error
        }
    }
}
