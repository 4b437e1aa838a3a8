internal import CoreAPI
internal import Platform

/// Starts a hub where none is, so that nobody has to think of it.
public struct HubLauncher: Hashable, Sendable {
    /// The absolute path of the program that becomes the hub, such as `sharedcore`.
    public var program: String
    /// What it is given, such as `hub`.
    public var arguments: [String]

    public init(program: String, arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// Starts the program when no hub has the endpoint, and returns when one answers there.
    func launch(at endpoint: HubEndpoint, within timeout: Duration?) async throws(SharedCoreError) {
    }
}
