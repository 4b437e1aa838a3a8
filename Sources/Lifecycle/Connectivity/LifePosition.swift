/// Where the connectivity machine stands: the application's state and its connectivity.
///
/// Source: contract P2.
public struct LifePosition: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The state of the application.
    public var application: ApplicationState
    /// Whether it has a network.
    public var connectivity: Connectivity

    public init(_ application: ApplicationState, _ connectivity: Connectivity) {
        self.application = application
        self.connectivity = connectivity
    }

    /// All six.
    public static let all = ApplicationState.allCases.flatMap { application in
        Connectivity.allCases.map { LifePosition(application, $0) }
    }

    public var description: String { "\(application), \(connectivity)" }
}
