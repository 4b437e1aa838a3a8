import InMemoryBackend

/// A participant with its handle and its process.
struct Player<Participant: Sendable>: Sendable {
    let participant: Participant
    let group: MemoryGroup
    let process: SimulatedProcess
}
