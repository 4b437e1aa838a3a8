extension SharedCoreError {
    /// The error of a call after the handle was closed.
    package static func closed(_ location: String) -> SharedCoreError {
        SharedCoreError(.closed, "The group was closed by its user.", at: location)
    }

    /// The error of a call whose task was cancelled before anything was done.
    package static func cancelled(_ location: String) -> SharedCoreError {
        SharedCoreError(.cancelled, "The task was cancelled; nothing was done.", at: location)
    }
}
