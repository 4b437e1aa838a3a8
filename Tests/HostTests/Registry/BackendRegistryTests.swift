internal import BackendRegistry
internal import CoreAPI
internal import InMemoryBackend
internal import TestSupport
internal import Testing
internal import ZMQBackend

@Suite("The registry of backends")
struct BackendRegistryTests {
    private let configuration = BackendConfiguration(backend: "memory", group: "a", stateDirectory: "/nowhere")

    @Test("A bundled backend is chosen by its name")
    func bundled() async throws {
        let registry = BackendRegistry.bundled()
        let group = try await registry.open(configuration, as: SessionDescription(role: .main, name: "m"))
        let other = try await registry.open(configuration)
        #expect(group.session.role == .main && group.session.name == "m")
        try await group.put("k", [1])
        #expect(try await other.get("k")?.value == [1])
    }

    @Test("Groups of other names are others (contract S14)")
    func groups() async throws {
        let registry = BackendRegistry.bundled()
        let group = try await registry.open(configuration)
        var otherConfiguration = configuration
        otherConfiguration.group = "b"
        let other = try await registry.open(otherConfiguration)
        try await group.put("k", [1])
        #expect(try await other.get("k") == nil)
    }

    @Test("The backend zmq reaches the hub that the settings name, and promises what that promises")
    func hub() async throws {
        let directory = try TemporaryDirectory()
        let endpoint = HubEndpoint.ipc(path: directory.path(of: "hub"))
        let hub = try await Hub.start(
            HubOptions(group: "a", storage: .memory(MemorySpace()), endpoints: [endpoint]))
        var other = configuration
        other.backend = "zmq"
        other.settings = ["zmq.endpoint": "\(endpoint)"]
        let group = try await BackendRegistry.bundled().open(other)
        try await group.put("k", [1])
        #expect(try await group.get("k")?.value == [1])
        #expect(group.capabilities.backend == "zmq")
        other.durability = .process
        let error = await #expect(throws: SharedCoreError.self) { try await BackendRegistry.bundled().open(other) }
        #expect(error?.code == .unsupported)
        await group.close()
        await hub.stop()
    }

    @Test("A backend that keeps no files needs no state directory; one that does refuses to open without it")
    func withoutStateDirectory() async throws {
        let registry = BackendRegistry.bundled()
        let group = try await registry.open(BackendConfiguration(backend: "memory", group: "a"))
        await group.close()
        for backend in ["file", "zmq"] {
            let configuration = BackendConfiguration(backend: backend, group: "a")
            #expect(configuration.directory == "")
            let error = await #expect(throws: SharedCoreError.self) { try await registry.open(configuration) }
            #expect(error?.code == .invalidArgument && error?.location == "stateDirectory", "\(backend)")
        }
    }

    @Test("A name that is not registered is unsupported, and the error says what there is (contract E1)")
    func unknown() async throws {
        var wrong = configuration
        wrong.backend = "carrierPigeon"
        let error = await #expect(throws: SharedCoreError.self) { try await BackendRegistry.bundled().open(wrong) }
        #expect(error?.code == .unsupported && error?.location == "backend")
        let names = BackendRegistry.bundled().names.joined(separator: ", ")
        #expect(
            error?.message
                == "There is no backend “carrierPigeon” here; there is \(names). Correct the name, or register the backend's "
                + "factory; that of a plugin is PluginFactory.")
    }

    @Test("The error for a bundled backend that the build does not have names its trait", arguments: ["ZMQ", "Etcd"])
    func withoutTrait(trait: String) async throws {
        let empty = BackendRegistry()
        var filled = empty
        filled.register(MemoryFactory())
        var missing = configuration
        missing.backend = trait.lowercased()
        let remedy = "The trait “\(trait)” of the package SharedCore brings it: enable the trait, and build again."
        for (registry, present) in [(empty, "none is registered"), (filled, "there is memory")] {
            let message = "There is no backend “\(missing.backend)” here; \(present). \(remedy)"
            do throws(SharedCoreError) {
                await (try await registry.open(missing)).close()
                Issue.record("The backend was opened.")
            } catch {
                #expect(error.message == message)
            }
            do throws(SharedCoreError) {
                await (try await registry.openToRead(missing)).close()
                Issue.record("The backend was opened to read.")
            } catch {
                #expect(error.message == message)
            }
        }
    }

    @Test("A caller adds a backend of its own")
    func added() async throws {
        struct Renamed: BackendFactory {
            let name = "mine"
            let space = MemorySpace()

            func open(
                _ configuration: BackendConfiguration, as description: SessionDescription
            ) async throws(SharedCoreError) -> any SharedGroup {
                try await space.open(configuration.group + (configuration.settings["mine.suffix"] ?? ""))
            }
        }
        var registry = BackendRegistry()
        registry.register(Renamed())
        #expect(registry.names == ["mine"])
        var own = configuration
        own.backend = "mine"
        own.settings = ["mine.suffix": "-x"]
        #expect(try await registry.open(own).capabilities.backend == "memory")
    }

    @Test("A requirement that the backend does not keep is refused at open")
    func requirements() async throws {
        var durable = configuration
        durable.durability = .process
        let error = await #expect(throws: SharedCoreError.self) { try await BackendRegistry.bundled().open(durable) }
        #expect(error?.code == .unsupported)
    }
}
