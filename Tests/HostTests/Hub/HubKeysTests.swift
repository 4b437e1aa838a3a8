internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import SharedCoreConfiguration
internal import Subprocess
internal import TestSupport
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

@Suite("Keys for hubs on a network")
struct HubKeysTests {
    /// Makes a pair, and returns the public key.
    private func makeKeys(_ program: HostProgram, in file: String) async throws -> String {
        let made = try await program.run("config", "keys", "--out", file, "--json")
        #expect(made.status == 0, "\(made.errors)")
        guard case .text(let key) = try made.objects().first?["publicKey"] else { throw KeyMissing() }
        return key
    }

    private struct KeyMissing: Error {}

    @Test("config keys puts the secret key into a new file for its owner alone, and prints the public one")
    func making() async throws {
        let program = try HostProgram()
        let made = try await program.run("config", "keys", "--out", "own.key", "--json")
        #expect(made.status == 0)
        let line = try #require(try made.objects().first)
        #expect(Set(line.keys) == ["publicKey", "secretKeyFile"])
        #expect(line["secretKeyFile"] == .text(program.directory.path(of: "own.key")))
        let file = try await program.shell("stat -c %a own.key; cat own.key")
        let words = file.output.split(separator: "\n")
        #expect(words.count == 2 && words[0] == "600" && words[1].utf8.count == 40)
        #expect(try await program.run("config", "keys", "--of", "own.key", "--json").objects() == [line])
        #expect(try await program.run("config", "keys", "--of", "absent.key").status == 64)
        let again = try await program.run("config", "keys", "--out", "own.key")
        #expect(again.status == 1 && again.errors.contains("There is a file already"))
        #expect(try await program.shell("stat -c %a own.key; cat own.key").output == file.output)
        let other = try await program.run("config", "keys")
        #expect(other.output.utf8.count == 41 && other.errors.contains("sharedcore.key"))
        #expect(other.output != made.output)
    }

    @Test("A key in the place of the path of its file is refused, and no message and no listing shows it")
    func inPlaceOfPath() async throws {
        let program = try HostProgram()
        _ = try await makeKeys(program, in: "own.key")
        let secret = try await program.shell("printf %s \"$(cat own.key)\"").output
        for (name, setting) in [("secretKey", "ZMQ_SECRET_KEY"), ("clientKeys", "ZMQ_CLIENT_KEYS")] {
            let file = "backend: zmq\nzmq: {endpoint: 'tcp://127.0.0.1:1', \(name): '\(secret)'}\n"
            try program.write(file, to: "c.yaml")
            var other = program
            other.environment = ["SHAREDCORE_BACKEND": "zmq", "SHAREDCORE_\(setting)": secret + "\n"]
            for arguments in [["config", "show"], ["config", "validate"], ["status"]] {
                for ended in [
                    try await program.run(arguments + ["--config", "c.yaml"]), try await other.run(arguments),
                ] {
                    // `status` may fail earlier, with another message.
                    if arguments[0] == "config" {
                        #expect(ended.status == 78, "\(arguments)")
                        #expect(ended.errors.contains("which is not shown"), "\(arguments): \(ended.errors)")
                    }
                    #expect(!(ended.output + ended.errors).contains(secret.prefix(20)), "\(arguments)")
                }
            }
        }
        // The path of a file may have that form.
        let path =
            "/tmp/" + String(String(UInt64.random(in: 1...UInt64.max)) + String(repeating: "x", count: 35)).prefix(35)
        #expect(SecretText.isKey(path))
        _ = try OpenFile(path: path, .createNew)
        defer { unlink(path) }
        #expect(!SecretText.isKey(path) && !SecretText.isKey("hub.key") && !SecretText.isKey(""))
        let error = #expect(throws: SharedCoreError.self) { try KeyFile.secretKey(at: secret) }
        #expect(error.map { !"\($0)".contains(secret) } == true)
    }

    @Test("Over TCP, a hub accepts only clients with a key in its list")
    func lettingIn() async throws {
        let program = try HostProgram()
        let (hubKey, clientKey) = (
            try await makeKeys(program, in: "hub.key"), try await makeKeys(program, in: "client.key")
        )
        let strangerKey = try await makeKeys(program, in: "stranger.key")
        try program.write("\n\(clientKey) # the laptop\n", to: "clients")
        let port = UInt16.random(in: 20_000...29_998)
        for (name, settings) in [
            ("hub.yaml", "secretKey: hub.key, clientKeys: clients"),
            ("client.yaml", "secretKey: client.key, hubKey: '\(hubKey)'"),
            ("stranger.yaml", "secretKey: stranger.key, hubKey: '\(hubKey)'"),
            ("mistaken.yaml", "secretKey: client.key, hubKey: '\(strangerKey)'"),
        ] {
            try program.write("backend: zmq\nzmq: {endpoint: 'tcp://127.0.0.1:\(port)', \(settings)}\n", to: name)
            let validated = try await program.run("config", "validate", "--config", name)
            #expect(validated.status == 0, "\(validated.errors)")
        }
        for (settings, problem) in [
            ("secretKey: client.key, hubKey: short", "40 characters of Z85"),
            ("secretKey: none.key, hubKey: '\(hubKey)'", "There is no such file"),
            ("secretKey: hub.key, clientKeys: absent", "There is no such file"),
            ("secretKey: hub.key", "zmq.hubKey"),
        ] {
            try program.write(
                "backend: zmq\nzmq: {endpoint: 'tcp://127.0.0.1:\(port)', \(settings)}\n", to: "wrong.yaml")
            let refused = try await program.run("config", "validate", "--config", "wrong.yaml")
            #expect(refused.status == 78 && refused.errors.contains(problem), "\(settings): \(refused.errors)")
        }
        let ended = try await program.running("--config", "hub.yaml", "hub") { hub in
            try await hub.untilErrors(contain: "listens at tcp://127.0.0.1:\(port)")
            let put = try await program.run("--config", "client.yaml", "store", "put", "k", "v")
            #expect(put.status == 0, "\(put.errors)")
            let stranger = try await program.run("--config", "stranger.yaml", "store", "get", "k")
            #expect(stranger.status == 78 && stranger.errors.contains("does not let this client's key in"))
            #expect(stranger.output.isEmpty)
            let mistaken = try await program.run("--config", "mistaken.yaml", "store", "get", "k")
            #expect(mistaken.status == 69 && mistaken.errors.contains("another key than is configured for it"))
            #expect(!mistaken.errors.contains("starts one"), "the hub is there: \(mistaken.errors)")
            // The list is followed.
            try program.write("\(clientKey) rights=read # the laptop\n", to: "clients.new")
            _ = try await program.shell("mv clients.new clients")
            try await hub.untilErrors(contain: "was read again")
            try await eventually("the key may not write any more") {
                let put = try await program.run("--config", "client.yaml", "store", "put", "k", "w")
                return put.status == 78 && put.errors.contains("“read”")
            }
            #expect(try await program.run("--config", "client.yaml", "store", "get", "k").output == "v")
            try program.write("no key\n", to: "clients")
            try await hub.untilErrors(contain: "is not read again")
            #expect(try await program.run("--config", "client.yaml", "store", "get", "k").status == 0)
            // A list without a key counts as one that is being written.
            try program.write("\n", to: "clients")
            #expect(try await program.run("--config", "client.yaml", "store", "get", "k").status == 0)
            try program.write("\(strangerKey)\n", to: "clients")
            try await eventually("the key is let in no more") {
                let get = try await program.run("--config", "client.yaml", "store", "get", "k")
                return get.status == 78 && get.errors.contains("does not let this client's key in")
            }
            #expect(try await program.run("--config", "hub.yaml", "hub", "--stop").status == 0)
        }
        #expect(ended.status == 0)
    }

    @Test(
        "E2: a key that is taken off the list loses its open connections, long before the list is read without an event"
    )
    func removedKey() async throws {
        let program = try HostProgram()
        let hubKey = try await makeKeys(program, in: "hub.key")
        let (removed, kept) = (
            try await makeKeys(program, in: "removed.key"), try await makeKeys(program, in: "kept.key")
        )
        try program.write("\(removed)\n\(kept)\n", to: "clients")
        let port = UInt16.random(in: 20_000...29_998)
        for (name, settings) in [
            ("hub.yaml", "secretKey: hub.key, clientKeys: clients"),
            ("removed.yaml", "secretKey: removed.key, hubKey: '\(hubKey)'"),
            ("kept.yaml", "secretKey: kept.key, hubKey: '\(hubKey)'"),
        ] {
            try program.write("backend: zmq\nzmq: {endpoint: 'tcp://127.0.0.1:\(port)', \(settings)}\n", to: name)
        }
        try await program.running("--config", "hub.yaml", "hub") { hub in
            try await hub.untilErrors(contain: "listens at tcp://127.0.0.1:\(port)")
            let clock = ContinuousClock()
            let change = Box<ContinuousClock.Instant?>(nil)
            let watching = try await program.running("--config", "removed.yaml", "store", "watch", "k") { watching in
                // The hub sees nothing until it has its watch open.
                try await eventually("it watches", timeout: TestTimeout.long) {
                    _ = try await program.run("--config", "kept.yaml", "store", "put", "k", "v")
                    return !watching.output.lines.isEmpty
                }
                try program.write("\(kept)\n", to: "clients.new")
                change.update { $0 = clock.now }
                _ = try await program.shell("mv clients.new clients")
            }
            #expect(watching.status == 78 && watching.errors.contains("does not let this client's key in"))
            // The second that the threat model states is tested without a clock: ClientListWatchTests have the time until the
            // list is read again, NetworkDoorTests the cut in the relay's next turn. Here a busy machine takes its time.
            #expect(try #require(change.value).duration(to: clock.now) < ClientListWatch.longestPause / 2)
            #expect(try await program.run("--config", "kept.yaml", "store", "get", "k").output == "v")
            try hub.send(.terminate)
        }
    }

    @Test("On loopback without configured keys, hub and clients of one user share those of the group's directory")
    func loopback() async throws {
        var program = try HostProgram()
        let port = UInt16.random(in: 20_000...29_998)
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:\(port)"
        let early = try await program.run("store", "get", "k")
        #expect(early.status == 69 && early.errors.contains("No hub of this group"), "\(early.errors)")
        let ended = try await program.running("hub") { [program] hub in
            try await hub.untilErrors(contain: "listens at tcp://127.0.0.1:\(port)")
            let put = try await program.run("store", "put", "k", "v")
            #expect(put.status == 0, "\(put.errors)")
            #expect(try await program.run("hub", "--stop").status == 0)
        }
        #expect(ended.status == 0)
    }

    @Test("E2: a hub at a port makes no core dump, also where the system is to make one; one at a socket does")
    func coreDump() async throws {
        let program = try HostProgram()
        let port = UInt16.random(in: 20_000...29_998)
        let ended = try await program.shell(
            """
            [ "$(ulimit -H -c)" != 0 ] || { echo "no process may make one here: 0"; exit 0; }
            ulimit -S -c hard
            for endpoint in tcp://127.0.0.1:\(port) ipc://$PWD/place/hub; do
                mkdir -m 700 -p place
                SHAREDCORE_BACKEND=zmq SHAREDCORE_ZMQ_ENDPOINT=$endpoint sharedcore hub 2>said & hub=$!
                until grep -q "listens at" said; do kill -0 $hub || { cat said >&2; exit 1; }; sleep 0.02; done
                awk '/core file/ { print $5 }' /proc/$hub/limits
                kill $hub; wait $hub
            done
            """)
        let limits = ended.output.split(separator: "\n")
        #expect(limits.count == 2 && limits[0] == "0" && limits[1] != "0", "\(ended.output) \(ended.errors)")
    }

    @Test("A secret key that others may read is refused with status 78", arguments: [0o640, 0o604])
    func openKey(mode: UInt32) async throws {
        var program = try HostProgram()
        _ = try await makeKeys(program, in: "own.key")
        chmod(program.directory.path(of: "own.key"), mode)
        try program.write("", to: "clients")
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:29999"
        program.environment["SHAREDCORE_ZMQ_SECRET_KEY"] = "own.key"
        program.environment["SHAREDCORE_ZMQ_CLIENT_KEYS"] = "clients"
        program.environment["SHAREDCORE_ZMQ_HUB_KEY"] = String(repeating: "a", count: 40)
        for arguments in [["store", "get", "k"], ["hub"]] {
            let ended = try await program.run(arguments)
            #expect(ended.status == 78, "\(ended.errors)")
            #expect(ended.errors.contains("the file's mode is \(String(mode, radix: 8)). Set it to 600"))
        }
    }

    @Test(
        "A secret key of another user is refused with status 78 with any mode",
        .enabled(if: getuid() == 0, "it takes root to give a file away"))
    func foreignKey() async throws {
        var program = try HostProgram()
        try program.write(try await makeKeys(program, in: "own.key"), to: "clients")
        #expect(chown(program.directory.path(of: "own.key"), 65534, 65534) == 0)
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:29999"
        program.environment["SHAREDCORE_ZMQ_SECRET_KEY"] = "own.key"
        program.environment["SHAREDCORE_ZMQ_CLIENT_KEYS"] = "clients"
        let ended = try await program.run("hub")
        #expect(ended.status == 78 && ended.errors.contains("belongs to user 65534"), "\(ended.errors)")
    }

    @Test("A list of clients that others may write to is refused")
    func openList() async throws {
        var program = try HostProgram()
        try program.write(try await makeKeys(program, in: "own.key"), to: "clients")
        chmod(program.directory.path(of: "clients"), 0o666)
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:29999"
        program.environment["SHAREDCORE_ZMQ_SECRET_KEY"] = "own.key"
        program.environment["SHAREDCORE_ZMQ_CLIENT_KEYS"] = "clients"
        let ended = try await program.run("hub")
        #expect(ended.status == 78 && ended.errors.contains("the file's mode is 666"), "\(ended.errors)")
    }

    @Test("A network without keys is refused, on both sides")
    func withoutKeys() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = "zmq"
        program.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://192.0.2.1:29999"
        for arguments in [["store", "get", "k"], ["hub"]] {
            let ended = try await program.run(arguments)
            #expect(ended.status == 78 && ended.errors.contains("zmq.secretKey"), "\(ended.errors)")
        }
    }
}
