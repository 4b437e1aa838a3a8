internal import CoreAPI

/// When this process looks for entries whose time is over, so that its watches hear of it.
struct ExpiryTimer {
    var due: BootInstant?
    var task: Task<Void, Never>?
}
