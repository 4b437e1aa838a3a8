internal import CoreAPI

/// The backend that is tested, which the articles leave out.
enum MyGroup {
    static func open(
        _ endpoint: String, as description: SessionDescription, limits: Limits = Limits(),
        requirements: Requirements = Requirements()
    ) async throws(SharedCoreError) -> any SharedGroup {
        throw SharedCoreError(.unavailable, "There is no server.", at: endpoint)
    }
}

/// The server behind it, which the articles leave out.
enum TestServer {
    static func start() async throws -> String { "nowhere" }
    static func stop(_ endpoint: String) async {}
}
