package import CoreAPI

/// The code of the error that a call throws; nil when it throws none.
package func code<Result>(
    of call: () async throws(SharedCoreError) -> Result
) async -> SharedCoreError.Code? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error.code
    }
}
