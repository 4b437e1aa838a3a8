internal import CommandCore
internal import CoreAPI
internal import CoreAPITesting
internal import Foundation
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// Uses a program in the place of the hub, so that it stops at a chosen moment.
@Suite("A hub that is started in the background")
struct DetachedHubTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(
        "A hub that is stopped in the middle of its start is killed, and its starter says so",
        arguments: [
            ("", nil), ("echo 'the disk is on fire' >&3", nil),
            ("echo 'the disk is on fire' >&3; exec 3>&-", "the disk is on fire"),
        ])
    func stopped(script: String, message: String?) async throws {
        let program = directory.path(of: "hub")
        let place = directory.path(of: "pid")
        try OpenFile(path: program, .create).write(
            Array("#!/bin/sh\n\(script)\necho $$ > '\(place)'\nkill -STOP $$\n".utf8), at: 0)
        #expect(chmod(program, 0o700) == 0)
        let log = try OpenFile(path: directory.path(of: "hub.log"), .create)
        let (failure, timeout) = try await withEnoughTime(toWrite: place) { timeout in
            try await withTimeout(timeout + TestTimeout.usual, "the start is given up") {
                try await SerialThread(name: "hub-start").run {
                    try DetachedHub.start(program, [:], log: log, timeout: timeout)
                }
            }
        }
        #expect(failure?.status == .unavailable)
        let expected = message ?? "did not listen within \(timeout.components.seconds) s and was killed; its log is "
        #expect(failure?.message?.contains(expected) == true, "\(String(describing: failure))")
        let text = try String(contentsOfFile: place, encoding: .utf8)
        #expect(kill(try #require(Int32(text.dropLast())), 0) != 0, "it is reaped")
    }

    @Test("A hub that tests have left ends with the process of the tests")
    func left() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        #expect(try await program.run("hub", "--detach").status == 0)
        let hub = try ProcessHandle(try #require(ProcessIdentity(of: try await program.hub())))
        let hubs = try BackgroundHubs()
        hubs.add(directory.path)
        hubs.add(program.directory.path)
        hubs.end()
        try await eventually("the hub has ended") { hub.hasEnded }
    }

    @Test("A hub that the program of a core has started does not end with that core: others use it (contract P14)")
    func unmarked() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        for role in LaunchMark.Role.allCases { program.environment[role.variable] = "1" }
        #expect(try await program.run("hub", "--detach").status == 0)
        let environment = OpenFile.text(of: "/proc/\(try await program.hub())/environ", upTo: 1 << 20) ?? ""
        let names = environment.split(separator: "\0").map { $0.prefix { $0 != "=" } }
        #expect(names.contains("SHAREDCORE_BACKEND"))
        for role in LaunchMark.Role.allCases { #expect(!names.contains(role.variable[...])) }
    }
}
