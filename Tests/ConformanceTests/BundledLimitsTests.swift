import CoreAPI
import CoreAPITesting
import Testing

@Suite("S10: the limits of the backends of the package")
struct BundledLimitsTests {
    @Test("S2, S10: 1 MiB, 4 MiB and 64 MiB unless configured", arguments: BundledBackend.allCases)
    func limits(backend: BundledBackend) async throws {
        let limits = try await backend.withHarness { harness in
            let group = try await harness.makeGroup(GroupSettings())
            let handle = try await group.open(SessionDescription(role: .tool, name: "limits"), requiring: .none)
            await handle.close()
            await group.remove()
            return handle.capabilities.limits
        }
        let expected = Limits(valueByteCount: 1 << 20, transactionByteCount: 4 << 20, storeByteCount: 64 << 20)
        #expect(limits == expected)
    }
}
