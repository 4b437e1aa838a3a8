internal import CoreAPI

/// What the articles leave out: the backend that is tried.
enum MyGroup {
    static func open(
        _ endpoint: String, as description: SessionDescription, limits: Limits = Limits(),
        requirements: Requirements = Requirements()
    ) async throws(SharedCoreError) -> any SharedGroup {
        throw SharedCoreError(.unavailable, "There is no server.", at: endpoint)
    }
}

/// What the articles leave out: the server behind it.
enum TestServer {
    static func start() async throws -> String { "nowhere" }
    static func stop(_ endpoint: String) async {}
}
