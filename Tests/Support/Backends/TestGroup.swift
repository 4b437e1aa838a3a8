package import CoreAPI
internal import CoreAPITesting

/// One group of a backend under test.
package final class TestGroup: Sendable {
    package typealias Opening =
        @Sendable (SessionDescription, Requirements) async throws(SharedCoreError) -> any SharedGroup

    /// Where the group lives, for people: a path, or the name of the backend.
    package let place: String

    private let opening: Opening
    /// What must live as long as the group, such as its directory.
    private let kept: [any Sendable]
    private let handles = Box<[any SharedGroup]>([])

    init(place: String, keeps kept: [any Sendable], opening: @escaping Opening) {
        self.place = place
        self.kept = kept
        self.opening = opening
    }

    /// Opens one more handle: a participant with a session of its own.
    package func open(
        _ name: String = "test", role: SessionRole = .tool, requiring requirements: Requirements = .none
    ) async throws(SharedCoreError) -> any SharedGroup {
        let handle = try await opening(SessionDescription(role: role, name: name), requirements)
        handles.update { $0.append(handle) }
        return handle
    }

    /// Opens several handles.
    package func open(count: Int) async throws(SharedCoreError) -> [any SharedGroup] {
        var opened: [any SharedGroup] = []
        for number in 0..<count { opened.append(try await open("test \(number)")) }
        return opened
    }

    /// Closes every handle that was opened here.
    package func closeAll() async {
        let open = handles.update { handles in
            defer { handles = [] }
            return handles
        }
        for handle in open { await handle.close() }
    }

    /// Forgets the handles that were opened here, so that the test alone holds them.
    package func letGo() {
        handles.update { $0 = [] }
    }
}
