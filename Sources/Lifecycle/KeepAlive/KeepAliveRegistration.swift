package import CoreAPI

/// A registration that the keep-alive looks after.
package struct KeepAliveRegistration: Hashable, Sendable {
    /// How long it is valid when it is fresh.
    package var lifetime: Duration
    /// When it lapses unless it is refreshed.
    package var lapsesAt: BootInstant
    /// When traffic came on its connection last.
    package var provenAt: BootInstant?
}
