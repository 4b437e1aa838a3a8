internal import CoreAPI

/// A store that only says what it is: what the inbox needs to make its transactions, which the simulation commits itself.
struct StoreOnPaper: SharedStore {
    let session = Session(
        id: SessionID(rawValue: 0),
        process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0), role: .tool, name: "",
        openedAt: BootInstant(nanoseconds: 0))
    let capabilities = Capabilities(backend: "simulation", features: [], durability: .process, limits: Limits())

    private var unused: SharedCoreError {
        SharedCoreError(.closed, "The simulation commits by itself.", at: "simulation")
    }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? { throw unused }
    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        throw unused
    }
    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit { throw unused }
    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch { throw unused }
    func sync() async throws(SharedCoreError) { throw unused }
    func sessions() async throws(SharedCoreError) -> [Session] { throw unused }
    func close() async {}
}
