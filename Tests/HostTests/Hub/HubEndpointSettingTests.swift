internal import SharedCoreConfiguration
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

@Suite("The endpoint of the hub")
struct HubEndpointSettingTests {
    private func endpoint(_ environment: [String: String], dir: String = "/groups") throws -> String {
        try Resolution(
            flags: ["backend": "zmq", "stateDirectory": dir], environment: environment, file: nil,
            workingDirectory: "/place"
        ).hubEndpoint().description
    }

    @Test("By default it is in XDG_RUNTIME_DIR, by a hash of the group's directory that never changes")
    func standard() throws {
        #expect(
            try endpoint(["XDG_RUNTIME_DIR": "/run/user/1"]) == "ipc:///run/user/1/sharedcore/b6b884aa62ec649c/hub")
        #expect(try endpoint(["XDG_RUNTIME_DIR": "/r"]) != endpoint(["XDG_RUNTIME_DIR": "/r"], dir: "/other"))
    }

    @Test("It is in the group's directory where that is unset or no absolute path")
    func inGroup() throws {
        for environment in [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "run"]] {
            #expect(try endpoint(environment) == "ipc:///groups/default/hub")
        }
    }

    @Test("A path that is too long for a socket, and what is no endpoint, is a wrong configuration")
    func wrong() throws {
        let long = "/" + String(repeating: "a", count: 100)
        for (environment, part) in [
            (["XDG_RUNTIME_DIR": long], "Set XDG_RUNTIME_DIR or zmq.endpoint to a shorter one"),
            (["SHAREDCORE_ZMQ_ENDPOINT": "ipc://\(long)/hub"], "SHAREDCORE_ZMQ_ENDPOINT: zmq.endpoint"),
            (["SHAREDCORE_ZMQ_ENDPOINT": "inproc://x"], "lives in one process"),
            (["SHAREDCORE_ZMQ_ENDPOINT": "tcp://host"], "The port is missing"),
            (["SHAREDCORE_ZMQ_ENDPOINT": "tcp://:5555"], "The host is missing"),
        ] {
            let failure = #expect(throws: ConfigurationFailure.self) { try endpoint(environment) }
            #expect(failure?.description.contains(part) == true, "\(failure?.description ?? "")")
        }
    }
}
