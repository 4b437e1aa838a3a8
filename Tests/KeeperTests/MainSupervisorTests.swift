internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Logging
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

extension KeeperTests {
    @Suite("The host starts a keeper")
    struct MainSupervisorTests {
        @Test("The host connects once to see that the keeper answers, and once to configure it")
        func connections() async throws {
            let directory = try TemporaryDirectory()
            let place = KeeperPlace(directory: directory.path(of: "place"))
            // In the place of the keeper: a program that writes its process number, and sleeps.
            let program = directory.path(of: "keeper")
            let record = directory.path(of: "pid")
            try OpenFile(path: program, .create).write(
                Array("#!/bin/sh\necho $$ > '\(record)'\nexec sleep 1000\n".utf8), at: 0)
            #expect(chmod(program, 0o700) == 0)
            let supervisor = try MainSupervisor(
                place, KeeperConfiguration(command: ["sleep", "1000"], options: SupervisionOptions()), program: program,
                logger: Logger(label: "test"))
            try supervisor.begin()
            defer { supervisor.end() }
            var started: Int32?
            try await eventually("the program is started") {
                started = KeeperStage.lines(record).first.flatMap { Int32($0) }
                return started != nil
            }
            defer { if let started { kill(started, SIGKILL) } }

            let listener = try MessageSocket(listeningAt: place.socket)
            var connections: [MessageSocket] = []
            var isConfigured = false
            try await eventually("the host configures the keeper") {
                while let next = try listener.accept() { connections.append(next) }
                for connection in connections {
                    guard case .message(let bytes, _) = connection.receive(upTo: KeeperLimits.messageByteCount),
                        case .configure = try KeeperRequest(bytes)
                    else { continue }
                    try connection.send(Array(KeeperMessage.done.text.utf8))
                    isConfigured = true
                }
                return isConfigured
            }
            #expect(connections.count <= 2)
        }
    }
}
