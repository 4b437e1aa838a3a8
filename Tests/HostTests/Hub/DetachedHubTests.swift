internal import CoreAPITesting
internal import Foundation
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import sharedcore

/// With a program in the place of the hub, so that it stops at a chosen moment.
@Suite("A hub that is started in the background")
struct DetachedHubTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(
        "One that is stopped in the middle of its start is killed, and its starter says so",
        arguments: [
            ("kill -STOP $$", "did not listen within 5 s and was killed; its log is "),
            ("echo 'the disk is on fire' >&3; kill -STOP $$", "did not listen within 5 s and was killed; its log is "),
            ("echo 'the disk is on fire' >&3; exec 3>&-; kill -STOP $$", "the disk is on fire"),
        ])
    func stopped(script: String, message: String) async throws {
        let program = directory.path(of: "hub")
        try OpenFile(path: program, .create).write(
            Array("#!/bin/sh\necho $$ > '\(directory.path(of: "pid"))'\n\(script)\n".utf8), at: 0)
        #expect(chmod(program, 0o700) == 0)
        let log = try OpenFile(path: directory.path(of: "hub.log"), .create)
        let failure = try await withTimeout(TestTimeout.usual, "the start is given up") {
            try await SerialThread(name: "hub-start").run {
                try DetachedHub.start(program, [:], log: log, patience: .seconds(5))
            }
        }
        #expect(failure?.status == .unavailable)
        #expect(failure?.message?.contains(message) == true, "\(String(describing: failure))")
        let text = try String(contentsOfFile: directory.path(of: "pid"), encoding: .utf8)
        #expect(kill(try #require(Int32(text.dropLast())), 0) != 0, "it is reaped")
    }
}
