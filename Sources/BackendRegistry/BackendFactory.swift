public import CoreAPI

/// Opens groups of one backend.
///
/// ```swift
/// struct RedisFactory: BackendFactory {
///     let name = "redis"
///     func open(
///         _ configuration: BackendConfiguration, as description: SessionDescription
///     ) async throws(SharedCoreError) -> any SharedGroup { ... }
/// }
/// ```
public protocol BackendFactory: Sendable {
    /// The name by which a configuration chooses the backend.
    var name: String { get }

    /// Joins the group that the configuration names.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when a requirement is not met, ``SharedCoreError/Code/forbidden``
    ///   or ``SharedCoreError/Code/unavailable`` when the group cannot be reached.
    func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup
}
