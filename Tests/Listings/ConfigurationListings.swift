internal import SharedCore
internal import SharedCoreConfiguration

func openConfigured(core: @escaping @Sendable () -> any Core) async throws {
    let configured = try await ConfiguredGroup.read(["group": "chat"])  // these, then the environment, then the file
    let group = try await configured.open(as: SessionDescription(role: .main))
    try await group.withMain(options: configured.coordination, core: core) { main in
        try await group.put("status", Array("ready".utf8))
        try await group.post("status-changed")
    }
}

func witness(_ configured: ConfiguredGroup) -> CoordinationEnvironment {
    CoordinationEnvironment(witness: configured.directory.map { FileWitness(besideGroup: $0) })
}
