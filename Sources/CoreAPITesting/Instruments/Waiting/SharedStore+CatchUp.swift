internal import CoreAPI

extension SharedStore {
    /// Makes the next reads of this handle reflect every commit that has returned anywhere, also on a backend whose
    /// reads do not promise it (contract S4).
    ///
    /// There, a transaction of nothing is given its place in the order: what this handle reads from then on is never
    /// older. A backend that promises linearizable reads is tried without this help.
    func catchUp() async throws {
        guard !capabilities.features.contains(.linearizableReads) else { return }
        _ = try await commit(Transaction())
    }
}
