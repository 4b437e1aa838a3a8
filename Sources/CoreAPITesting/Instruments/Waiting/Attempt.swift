package import CoreAPI

/// The result of a call that may fail with the error of a store. Any other error is thrown.
package func attempt<Value>(_ call: () async throws -> Value) async throws -> Result<Value, SharedCoreError> {
    do {
        return .success(try await call())
    } catch let error as SharedCoreError {
        return .failure(error)
    }
}

/// The code of the error that a call throws; nil when it throws none.
package func code<Value>(of call: () async throws -> Value) async throws -> SharedCoreError.Code? {
    switch try await attempt(call) {
    case .success: nil
    case .failure(let error): error.code
    }
}
