internal import SharedCore
internal import SharedCoreConfiguration

func openConfigured(core: @escaping @Sendable () -> any Core) async throws {
    let configured = try await ConfiguredGroup.read(["group": "chat"])  // then the environment, and the user's file
    let group = try await configured.open(as: SessionDescription(role: .main))
    try await group.withMain(options: configured.coordination, core: core) { main in
        try await group.put("status", Array("ready".utf8))
        try await group.post("status-changed")
    }
}

func openConfiguredExecutor(
    flags: [String: String], directory: String, callID: CallID, core: @escaping @Sendable () -> any Core,
    show: @Sendable (MessageResult) -> Void
) async throws {
    let configured = try await ConfiguredGroup.read(flags, file: directory + "/sharedcore.yaml")
    let group = try await configured.open(as: SessionDescription(role: .executor, name: "mail"))
    let environment = CoordinationEnvironment(witness: configured.directory.map { FileWitness(besideGroup: $0) })
    try await group.withExecutor(options: configured.coordination, environment: environment, core: core) { executor in
        show(try await executor.message(forCallID: callID, timeout: .seconds(20)))
    }
}
