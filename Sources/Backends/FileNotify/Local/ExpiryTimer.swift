internal import CoreAPI

/// When this process looks for entries whose time is over, so that its watches hear of it.
struct ExpiryTimer {
    var due: BootInstant?
    /// After an expiry that could not be recorded: not to be tried before this.
    var notBefore: BootInstant?
    var task: Task<Void, Never>?
}
