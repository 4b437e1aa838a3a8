internal import CoreAPITesting
internal import Subprocess
internal import Testing

/// The states of applications, at the shell (contract P1, P2).
@Suite("application, and what status shows of background life")
struct ApplicationCommandTests {
    @Test("status shows the levels that are configured, and those of the table")
    func levels() async throws {
        let program = try HostProgram()
        try program.write("serviceLevels:\n  presencePublish:\n    background: none\n", to: "sharedcore.yaml")
        #expect(try await program.run("store", "put", "k", "v").status == 0)
        let status = try #require(try await program.run("status", "--json").objects().first)
        guard case .object(let levels) = status["serviceLevels"], case .object(let background) = levels["background"],
            case .object(let foreground) = levels["foreground"]
        else {
            Issue.record("no levels: \(status)")
            return
        }
        #expect(background["presencePublish"] == .text("none"))
        #expect(background["heldCall"] == .text("signalingOnly"))
        #expect(foreground["presencePublish"] == .text("normal"))
        #expect(background.count == 10 && foreground.count == 10)
        #expect(status["applications"] == .array([]) && status["keepAlives"] == .array([]))
        // The text output shows it only where an application has published its state.
        #expect(try await !program.run("status").output.contains("levels "))
        _ = try await program.running("main") { main in
            try await eventually("Main is there", timeout: TestTimeout.long) {
                try await program.run("application", "background").status == 0
            }
            let text = try await program.run("status").output
            #expect(text.contains("levels    background: heldCall signalingOnly"), "\(text)")
            #expect(text.contains("presencePublish none"))
            try main.send(.terminate)
        }
    }

    @Test("status counts keys and notification names with their bytes, as the store does", arguments: ["file", "zmq"])
    func usage(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            #expect(try await program.run("store", "put", "key", "value").status == 0)
            #expect(try await program.run("notify", "post", "na").status == 0)
            func usage() async throws -> [String: JSONField] {
                let status = try #require(try await program.run("status", "--json").objects().first)
                guard case .object(let usage) = status["store"] else { return [:] }
                return usage
            }
            let before = try await usage()
            #expect(Set(before.keys) == ["keys", "bytes", "names", "nameBytes"])
            for name in ["longer/name", "ü"] { #expect(try await program.run("notify", "post", name).status == 0) }
            #expect(try await program.run("store", "put", "second", "four").status == 0)
            let after = try await usage()
            func growth(of field: String) throws -> UInt64 {
                guard case .number(let old)? = before[field], case .number(let new)? = after[field] else { return 0 }
                return new - old
            }
            #expect(try growth(of: "names") == 2 && growth(of: "keys") == 1)
            #expect(try growth(of: "bytes") == 10)
            // In bytes, not in characters.
            #expect(try growth(of: "nameBytes") == 13)
            let text = try await program.run("status").output
            guard case .number(let names)? = after["names"], case .number(let bytes)? = after["nameBytes"] else {
                Issue.record("\(after)")
                return
            }
            #expect(text.contains("\(names) notification names (\(bytes) bytes)"), "\(text)")
        }
    }

    @Test("application sets the state of the application for Main, and status shows it until Main ends")
    func main() async throws {
        let program = try HostProgram()
        #expect(try await program.run("application", "background").status == 1, "there is no Main yet")
        _ = try await program.running("main") { main in
            try await eventually("Main is there", timeout: TestTimeout.long) {
                try await program.run("application", "background").status == 0
            }
            let said = try #require(try await program.run("application", "suspended", "--json").objects().first)
            #expect(said["state"] == .text("suspended"))
            let status = try await program.run("status", "--json").output
            #expect(status.contains("\"state\":\"suspended\",\"saidBy\":\"another\""), "\(status)")
            #expect(try await program.run("status").output.contains(": suspended, reported by another participant"))
            try main.send(.kill)
        }
        #expect(try await program.run("status", "--json").output.contains("\"applications\":[]"))
    }

    @Test("application refuses an unknown state and an unknown session")
    func refusals() async throws {
        let program = try HostProgram()
        #expect(try await program.run("application", "dormant").status == 64)
        #expect(try await program.run("application", "background", "--session", "12345").status == 1)
    }
}
