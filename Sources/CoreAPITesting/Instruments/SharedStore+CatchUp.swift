package import CoreAPI

extension SharedStore {
    /// Makes the next reads of this handle reflect every commit that has returned anywhere, also on a backend that does
    /// not promise it for reads (contract S4).
    ///
    /// On such a backend this commits an empty transaction: no later read of this handle is older than that commit. On
    /// a backend that promises linearizable reads this does nothing, so that the cases test the promise.
    func catchUp() async throws {
        guard !capabilities.features.contains(.linearizableReads) else { return }
        _ = try await commit(Transaction())
    }
}

/// Returns the result of a call that may fail with the error of a store. Any other error is thrown.
package func attempt<Value>(_ call: () async throws -> Value) async throws -> Result<Value, SharedCoreError> {
    do {
        return .success(try await call())
    } catch let error as SharedCoreError {
        return .failure(error)
    }
}

/// Returns the code of the error that a call throws; nil if it succeeds.
package func code<Value>(of call: () async throws -> Value) async throws -> SharedCoreError.Code? {
    switch try await attempt(call) {
    case .success: nil
    case .failure(let error): error.code
    }
}
