internal import CoreAPITesting
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("The host's messages to its service manager")
struct ServiceManagerTests {
    @Test("The host tells systemd that it is ready, alive, reloading and stopping")
    func story() async throws {
        var program = try HostProgram()
        let manager = try ServiceManager(path: program.directory.path(of: "notify"))
        program.environment["NOTIFY_SOCKET"] = manager.address
        program.environment["WATCHDOG_USEC"] = "200000"
        try await ServingHost.serve(program) { host in
            try await manager.until { $0.contains { $0.contains("READY=1") } }
            try await manager.until { $0.contains("STATUS=0 of 16 Executors, 0 pushes waiting") }
            try await manager.until { $0.filter { $0 == "WATCHDOG=1" }.count >= 3 }
            _ = try await host.program.run("push", "1@x")
            try await manager.until { $0.contains { $0.contains("STATUS=1 of 16 Executors") } }
            let before = SystemClock.monotonicMicroseconds
            try host.running.send(.init(rawValue: 1))
            try await manager.until { messages in
                guard let index = messages.firstIndex(where: { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }),
                    let time = UInt64(messages[index].split(separator: "=").last ?? "")
                else { return false }
                return time >= before && messages[index...].contains { $0.contains("READY=1") }
            }
            #expect(!manager.messages.contains { $0.contains("STOPPING") })
            // If another status were sent together with it, that status would replace the counts until they change.
            #expect(manager.messages.filter { $0.contains("READY=1") } == ["READY=1", "READY=1"])
        }
        try await manager.until { $0.contains { $0.hasPrefix("STOPPING=1") } }
    }

    @Test("An abstract address works as well, and a watchdog of another process is not fed")
    func abstractAddress() async throws {
        let name = "@sharedcore-test-\(UInt64.random(in: .min ... .max))"
        let manager = try ServiceManager(path: name)
        let environment = ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "7"]
        ServiceNotifier(environment: environment, process: 8).status("well")
        try await manager.until { $0 == ["STATUS=well"] }
        #expect(ServiceNotifier(environment: environment, process: 8).watchdogInterval == nil)
        #expect(ServiceNotifier(environment: environment, process: 7).watchdogInterval == .milliseconds(500))
        #expect(ServiceNotifier(environment: [:], process: 7).watchdogInterval == nil)
    }

    @Test("Without a service manager the host works", arguments: ["/nowhere/notify", "relative", "@nobody", ""])
    func absent(address: String) async throws {
        var program = try HostProgram()
        program.environment["NOTIFY_SOCKET"] = address
        let ended = try await ServingHost.serve(program) { _ in }
        #expect(ended.status == 0)
    }
}
