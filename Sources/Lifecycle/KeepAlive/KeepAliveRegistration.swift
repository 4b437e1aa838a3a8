internal import CoreAPI

/// A registration that the keep-alive looks after.
struct KeepAliveRegistration: Hashable, Sendable {
    /// How long it is valid when it is fresh.
    var lifetime: Duration
    /// When it lapses unless it is refreshed.
    var lapsesAt: BootInstant
    /// When traffic came on its connection last.
    var provenAt: BootInstant?
}
