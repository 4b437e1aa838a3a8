internal import CoreAPI

/// Makes a call whose errors are the store's.
nonisolated(nonsending) func inStore<Result>(
    _ call: () async throws(SharedCoreError) -> Result
) async throws(WormholeError) -> Result {
    do throws(SharedCoreError) {
        return try await call()
    } catch {
        throw WormholeError(error)
    }
}
