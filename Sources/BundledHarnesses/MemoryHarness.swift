internal import CoreAPI
package import CoreAPITesting
internal import InMemoryBackend
internal import Platform

/// Runs the cases on groups in the memory of this process.
package struct MemoryHarness: ConformanceHarness {
    package let name = "memory"

    package init() {}

    package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        MemoryTestGroup(
            space: MemorySpace(
                clock: settings.clock ?? SystemClock(), limits: settings.limits ?? Limits(),
                historyByteCount: settings.historyByteCount ?? 1 << 20))
    }
}

/// One group in a space of its own.
private struct MemoryTestGroup: ConformanceGroup {
    let space: MemorySpace

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await space.open("group", as: description, requirements: requirements)
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await space.openToRead("group", as: description)
    }

    func remove() async {}

    func simulateKill(of handle: any SharedGroup) throws { try memory(handle).simulateKill() }
    func simulateStop(of handle: any SharedGroup) throws { try memory(handle).simulateStop() }
    func simulateContinue(of handle: any SharedGroup) throws { try memory(handle).simulateContinue() }

    private func memory(_ handle: any SharedGroup) throws -> MemoryGroup {
        guard let handle = handle as? MemoryGroup else {
            throw HarnessLimitation("this handle is not one of a group in memory")
        }
        return handle
    }
}
