import CoreAPI
import InMemoryBackend
import Wormholes

/// A group in memory in which participants open wormholes.
struct WormholeFixture {
    let space: MemorySpace

    /// - Parameter historyByteCount: How much of what happened a slow listener can look back on.
    init(historyByteCount: Int = 1 << 20) {
        space = MemorySpace(historyByteCount: historyByteCount)
    }

    /// One more participant's wormhole.
    func wormhole() async throws -> Wormhole {
        Wormhole(try await space.open("group"))
    }
}
